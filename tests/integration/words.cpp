// A C++ program with a mixed heap, for real-programs.sh: words COUNT
//
// Containers that grow, strings short and long, shared pointers, exceptions, a
// regular expression, streams; some blocks are left behind on purpose.
#include <algorithm>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

std::string word(unsigned n)
{
	std::string s;
	for (unsigned k = n * 2654435761u; s.size() < 3 + n % 29; k = k * 1664525u + 1013904223u)
		s += static_cast<char>('a' + (k >> 24) % 26);
	return s;
}

struct Node {
	std::string name;
	std::vector<std::shared_ptr<Node>> kids;
};

std::shared_ptr<Node> tree(unsigned depth, unsigned seed)
{
	auto n = std::make_shared<Node>();
	n->name = word(seed);
	for (unsigned i = 0; depth && i < 3; i++)
		n->kids.push_back(tree(depth - 1, seed * 3 + i));
	return n;
}

unsigned may_throw(unsigned n)
{
	if (n % 7 == 0)
		throw std::runtime_error("word " + word(n));
	return n;
}

void *left_behind[64];

} // namespace

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? std::stoul(argv[1]) : 2000;
	std::map<std::string, unsigned> sorted;
	std::unordered_map<std::string, std::list<unsigned>> hashed;
	std::ostringstream text;
	unsigned caught = 0;
	for (unsigned i = 0; i < count; i++) {
		sorted[word(i)] += i;
		hashed[word(i % 97)].push_back(i);
		text << word(i) << (i % 11 ? ' ' : '\n');
		try {
			may_throw(i);
		} catch (const std::exception &e) {
			caught += std::string(e.what()).size();
		}
	}
	for (unsigned i = 0; i < 64; i++)
		left_behind[i] = i % 2 ? static_cast<void *>(new char[i * 17]) : new Node{word(i), {}};
	std::string all = text.str();
	std::regex re("[aeiou][b-d]+");
	auto hits = std::distance(std::sregex_iterator(all.begin(), all.end(), re), std::sregex_iterator());
	std::function<unsigned(unsigned)> twice = [caught](unsigned x) { return 2 * x + caught; };
	std::cout << sorted.size() << ' ' << hashed.size() << ' ' << hits << ' ' << twice(count) << ' '
		  << tree(6, 1)->kids.size() << '\n';
	return 0;
}
