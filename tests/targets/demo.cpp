/*
 * What `./bootstrap demo` records: a small server, without its network.
 *
 * It parses a batch of JSON requests, answers each from a cache, and writes a
 * report at the end.  Three things are wrong with it, and neap shows all three:
 *
 *   a leak       Cache::put replaces an entry and forgets the old one's body
 *   a peak       monthly_report copies every record, twice, before it formats them
 *   churn        Logger::line copies each path only to count its bytes
 *
 * Same allocations on every run: no clock, no address, no input decides anything.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace json {

struct Value {
	enum Kind { Null, Number, String, Array, Object };
	Kind kind = Null;
	double number = 0;
	std::string string;
	std::vector<std::unique_ptr<Value>> items;
	std::vector<std::string> keys; /* of an object, in step with items */

	const Value *find(const char *key) const
	{
		for (size_t i = 0; i < keys.size(); i++)
			if (keys[i] == key)
				return items[i].get();
		return nullptr;
	}
};

class Parser {
public:
	explicit Parser(const std::string &text) : at(text.data()), end(at + text.size()) {}
	std::unique_ptr<Value> parse() { return parse_value(); }

private:
	const char *at, *end;

	void skip_space()
	{
		while (at < end && std::strchr(" \n\t,:", *at))
			at++;
	}

	std::string parse_string()
	{
		const char *start = ++at;
		while (at < end && *at != '"')
			at++;
		std::string s(start, at);
		at++;
		return s;
	}

	std::unique_ptr<Value> parse_object()
	{
		auto v = std::make_unique<Value>();
		v->kind = Value::Object;
		at++;
		for (skip_space(); at < end && *at != '}'; skip_space()) {
			v->keys.push_back(parse_string());
			v->items.push_back(parse_value());
		}
		at++;
		return v;
	}

	std::unique_ptr<Value> parse_array()
	{
		auto v = std::make_unique<Value>();
		v->kind = Value::Array;
		at++;
		for (skip_space(); at < end && *at != ']'; skip_space())
			v->items.push_back(parse_value());
		at++;
		return v;
	}

	std::unique_ptr<Value> parse_value()
	{
		skip_space();
		if (*at == '{')
			return parse_object();
		if (*at == '[')
			return parse_array();
		auto v = std::make_unique<Value>();
		if (*at == '"') {
			v->kind = Value::String;
			v->string = parse_string();
			return v;
		}
		v->kind = Value::Number;
		char *after;
		v->number = std::strtod(at, &after);
		at = after > at ? after : at + 1;
		return v;
	}
};

} // namespace json

static uint32_t random_state = 12345;

static uint32_t next_random()
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static std::string make_request(int number)
{
	std::string text = "{\"id\": " + std::to_string(number) + ", \"user\": \"user-";
	text += std::to_string(next_random() % 4000) + "\", \"path\": \"/articles/2024/";
	text += std::to_string(next_random() % 2500) + "\", \"tags\": [";
	for (uint32_t i = next_random() % 6; i > 0; i--)
		text += "\"tag-" + std::to_string(next_random() % 50) + "\", ";
	return text + "0]}";
}

struct Body {
	size_t length;
	char *bytes;
};

class Cache {
public:
	~Cache()
	{
		for (auto &entry : entries)
			std::free(entry.second.bytes);
	}

	const Body *get(const std::string &key) const
	{
		auto found = entries.find(key);
		return found == entries.end() ? nullptr : &found->second;
	}

	void put(const std::string &key, const Body &body)
	{
		entries[key] = body; /* the leak: what stood here is forgotten */
	}

private:
	std::map<std::string, Body> entries;
};

static Body render_article(const std::string &path)
{
	size_t length = 600 + path.size() * 37 + next_random() % 900;
	Body body = {length, static_cast<char *>(std::malloc(length))};
	if (body.bytes)
		std::memset(body.bytes, 'x', length);
	return body;
}

struct Record {
	std::string user, path;
	size_t length;
};

static std::string escape(const std::string &s)
{
	std::string escaped;
	escaped.reserve(3 * s.size());
	for (char c : s)
		escaped += c == '/' ? "%2f" : std::string(1, c);
	return escaped;
}

class Logger {
public:
	void line(const Record &r, size_t number)
	{
		std::string text = "request " + std::to_string(number) + ": user=" + r.user;
		text += " bytes=" + std::to_string(r.length);
		total += text.size() + escape(r.path).size();
	}
	size_t total = 0;
};

static Record answer(Cache &cache, const json::Value &request)
{
	Record record;
	record.user = request.find("user")->string;
	record.path = request.find("path")->string;
	const Body *body = cache.get(record.path);
	bool is_stale = body && next_random() % 8 == 0;
	if (!body || is_stale) {
		cache.put(record.path, render_article(record.path));
		body = cache.get(record.path);
	}
	record.length = body->length;
	return record;
}

static std::vector<Record> serve(Cache &cache, Logger &log, int count)
{
	std::vector<Record> records;
	for (int i = 0; i < count; i++) {
		std::string text = make_request(i);
		auto request = json::Parser(text).parse();
		records.push_back(answer(cache, *request));
		log.line(records.back(), records.size());
	}
	return records;
}

static std::vector<std::string> format_lines(const std::vector<Record> &records)
{
	std::vector<std::string> lines;
	lines.reserve(records.size());
	for (const Record &r : records)
		lines.push_back(r.user + "  " + r.path + "  " + std::to_string(r.length) + " bytes");
	return lines;
}

static size_t monthly_report(const std::vector<Record> &records)
{
	std::vector<Record> by_user(records), by_path(records); /* the peak */
	std::sort(by_user.begin(), by_user.end(),
		  [](const Record &a, const Record &b) { return a.user < b.user; });
	std::sort(by_path.begin(), by_path.end(),
		  [](const Record &a, const Record &b) { return a.path < b.path; });
	std::map<std::string, size_t> bytes_by_user;
	for (const Record &r : by_user)
		bytes_by_user[r.user] += r.length;
	std::vector<std::string> lines = format_lines(by_path);
	return bytes_by_user.size() + lines.front().empty();
}

static std::unique_ptr<json::Value> load_settings()
{
	std::string text = "{\"name\": \"demo\", \"limits\": [";
	for (int i = 0; i < 20000; i++)
		text += std::to_string(next_random() % 100000) + ", ";
	return json::Parser(text + "0]}").parse();
}

int main()
{
	auto settings = load_settings();
	size_t users, logged;
	{
		Cache cache;
		Logger log;
		std::vector<Record> records = serve(cache, log, 60000);
		users = monthly_report(records);
		logged = serve(cache, log, 20000).size() + log.total;
	}
	std::printf("%s: served %zu users, logged %zu bytes\n",
		    settings->find("name")->string.c_str(), users, logged);
	return 0;
}
