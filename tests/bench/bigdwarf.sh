#!/bin/bash
# bigdwarf.sh UNITS CXX: makes ./bigdwarf of so many translation units, each with about 10 MB of
# debug information, and ./bigdwarf.addresses, 20,000 distinct addresses in its functions.
# The same addresses every time.  Takes half a minute of processor time a unit.
set -euo pipefail
units=$1 cxx=$2
mkdir -p units
for ((i = 0; i < units; i++)); do
	cat >units/u$i.cpp <<CPP
#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
namespace unit$i {
template <int N> struct item { std::string name; std::vector<long> values; long weight[N + 1]; bool operator<(const item &o) const { return weight[N] < o.weight[N]; } };
template <int N> struct layer {
	std::map<std::string, item<N>> table;
	std::unordered_map<int, std::shared_ptr<layer<N - 1>>> inner;
	std::deque<std::function<long(long)>> jobs;
	std::set<item<N>> order;
	std::list<std::variant<int, std::string, item<N>>> log;
	long run(long x)
	{
		auto &slot = inner[int(x % (N + 1))];
		if (!slot) slot = std::make_shared<layer<N - 1>>();
		jobs.push_back([this, x](long y) { return x * N + y + long(table.size()); });
		item<N> it{"n" + std::to_string(x), std::vector<long>(x % 7 + 1, x), {}};
		it.weight[N] = x;
		order.insert(it);
		log.emplace_back(it);
		log.emplace_back(std::to_string(x));
		std::vector<item<N>> v(order.begin(), order.end());
		std::sort(v.begin(), v.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
		std::stable_sort(v.begin(), v.end());
		table[it.name] = std::move(it);
		long sum = std::accumulate(v.begin(), v.end(), 0L, [](long s, const item<N> &i) { return s + i.weight[N]; });
		for (auto &l : log) sum += std::visit([](auto &&a) -> long { return long(sizeof a); }, l);
		std::ostringstream out;
		out << sum << ' ' << slot->run(x + 1);
		return sum + jobs.back()(long(out.str().size()));
	}
};
template <> struct layer<0> { long run(long x) { return x; } };
long go(long x)
{
	layer<14> l;
	std::regex re("[a-z]+($i|[0-9]*)");
	std::mt19937 rnd{unsigned(x)};
	std::unordered_set<std::string> seen;
	for (int i = 0; i < 3; i++) seen.insert(std::to_string(std::uniform_int_distribution<int>(0, 9)(rnd)));
	auto f = std::async(std::launch::deferred, [&] { return l.run(x); });
	return f.get() + std::regex_match("abc" + std::to_string(x), re) + long(seen.size());
}
} // namespace unit$i
CPP
done
{
	for ((i = 0; i < units; i++)); do echo "namespace unit$i { long go(long); }"; done
	echo "int main(int argc, char **) { long s = 0;"
	for ((i = 0; i < units; i++)); do echo "s += unit$i::go(argc);"; done
	echo "return int(s & 1); }"
} >units/main.cpp
printf '%s\n' units/*.cpp | xargs -P 2 -I{} "$cxx" -std=c++17 -g -O1 -c {} -o {}.o
"$cxx" -o bigdwarf units/*.o -pthread
nm -S --defined-only bigdwarf | awk '
	function hex(s, i, n) { for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
	NF == 4 && $3 ~ /^[tTwWu]$/ { start[n] = hex($1); bytes[n++] = hex($2) }
	END {
		for (seed = 7; found < 20000; ) {
			seed = (seed * 16807) % 2147483647
			i = seed % n
			seed = (seed * 16807) % 2147483647
			if (bytes[i] < 1) continue
			va = start[i] + seed % bytes[i]
			if (!(va in seen)) { seen[va]; found++; printf "0x%x\n", va }
		}
	}' | sort -u >bigdwarf.addresses
