#!/usr/bin/env python3
"""Compares what neap says of addresses with what other tools say.

  compare.py all MODULE             every address of the program's own functions, for stdin of tools
  compare.py tools NEAP NM TOOL=FILE...
      NEAP     output of symlook; NM: nm -S --defined-only
      TOOL     addr2line, eu-addr2line or llvm-addr2line; FILE: its output (-a -f -i)
      Each address has to be said in full by one of the tools, and what another says instead has
      to be one of the known differences (known_difference), which are counted.
  compare.py same NEAP OTHER        both are symlook's and equal
  compare.py shift BYTES            adds to the addresses of stdin
Prints one line; exit status 1 and the first differences if there are any that are not known.
"""
import re
import subprocess
import sys

RUNTIME = re.compile(r"^(_start|_init|_fini|_dl_|deregister_tm|register_tm|__do_global|frame_dummy|__libc)")


def functions(module):
    out = subprocess.run(["nm", "-S", "--defined-only", module], capture_output=True, text=True, check=True)
    return functions_of(out.stdout)


def functions_of(text):
    for line in text.splitlines():
        part = line.split()
        if len(part) == 4 and part[2] in "tTwWuU" and not RUNTIME.match(part[3]):
            yield int(part[0], 16), int(part[1], 16), part[3]


def load(path):
    """address -> [(function, file, line)], innermost first; file "" and line 0: unknown"""
    out, chain = {}, None
    lines = open(path, errors="replace").read().splitlines()
    at = 0
    while at < len(lines):
        if lines[at].startswith("0x"):
            chain = out.setdefault(int(lines[at], 16), [])
            at += 1
            continue
        name = re.sub(r" inlined (at|in) .*", "", lines[at])
        place = re.sub(r" \(discriminator.*", "", lines[at + 1]) if at + 1 < len(lines) else ""
        match = re.match(r"(.*?):(\d+)(:\d+)?$", place)
        line = int(match.group(2)) if match else 0
        chain.append((name, clean(match.group(1)) if line else "", line))
        at += 2
    return out


def clean(path):
    """a/b/../c and a/./c are a/c"""
    out = []
    for part in path.split("/"):
        if part == ".." and out and out[-1] not in ("", ".."):
            out.pop()
        elif part != ".":
            out.append(part)
    return "/".join(out)


def places(chain):
    return [(f, l) for _, f, l in chain]


def same_places(ours, theirs):
    """A tool may leave the compilation directory out."""
    if len(ours) != len(theirs):
        return False
    for (_, our_file, our_line), (_, file, line) in zip(ours, theirs):
        while file.startswith("../"):
            file = file[3:]
        if our_line != line or not (our_file == file or our_file.endswith("/" + file)):
            return False
    return True


def inlined(chain):
    return [name for name, _, _ in chain[:-1]]


# addr2line (binutils 2.40) swaps names at boundaries of inlined functions, and cannot do with DWARF 5 of
# clang and with type units of DWARF 5.  eu-addr2line (elfutils 0.188) loses inlined functions of
# link-time optimisation and of functions inside functions.  Strict DWARF 2 cannot say where the code of a
# unit in several pieces is, and clang writes no .debug_aranges: then the tools find no unit.
# llvm-addr2line (14) knows as little as the others of strict DWARF 2.
def known_difference(tool, ours, theirs):
    if same_places(ours, theirs):
        if tool == "addr2line" and inlined(ours) != inlined(theirs):
            return "names the outermost function for the innermost inlined one"
        return None
    if len(theirs) == 1 and len(ours) > 1 and same_places(ours[:1], theirs):
        return "loses inlined functions"
    if tool == "addr2line" and len(theirs) == 1 and len(ours) > 1 and ours[0][2] == theirs[0][2]:
        return "loses inlined functions, and mistakes the first file of DWARF 5 line tables"
    if tool == "addr2line" and len(theirs) == len(ours) and [l for _, _, l in ours] == [l for _, _, l in theirs]:
        return "mistakes the first file of DWARF 5 line tables"
    if tool == "eu-addr2line" and len(theirs) == 1 and not theirs[0][2]:
        return "finds no unit where there is no .debug_aranges"
    if tool in ("addr2line", "llvm-addr2line") and len(theirs) == 1 and not theirs[0][2]:
        return "finds no unit where none says where its code is"
    return None


def compare_tools(neap, nm, tools):
    ours = load(neap)
    symbols = list(functions_of(open(nm).read()))
    theirs = {t.split("=")[0]: load(t.split("=")[1]) for t in tools}
    known, wrong = {}, []
    inlined_count = 0
    for va, chain in ours.items():
        inlined_count += len(chain) > 1
        names = {n for low, size, n in symbols if low <= va < low + size}
        if chain[-1][0] not in names:
            wrong.append((va, "symbol table", chain, names))
        agreeing = 0
        for tool, said in theirs.items():
            other = said.get(va, [])
            if same_places(chain, other) and inlined(chain) == inlined(other):
                agreeing += 1
                continue
            why = known_difference(tool, chain, other)
            if why:
                known[(tool, why)] = known.get((tool, why), 0) + 1
            else:
                wrong.append((va, tool, chain, other))
        if not agreeing:
            wrong.append((va, "no tool says so", chain, []))
    print(f"{len(ours)} addresses, {inlined_count} with inlined functions", end="")
    for (tool, why), count in sorted(known.items()):
        print(f"; {tool} {why} ({count})", end="")
    print()
    if len(ours) < 100 or inlined_count < 20:
        wrong.append((0, "too few", [], []))
    return wrong


def compare_same(a, b):
    ours, theirs = load(a), load(b)
    print(f"{len(ours)} addresses")
    wrong = [(va, "before", c, theirs.get(va)) for va, c in ours.items() if c != theirs.get(va)]
    if len(ours) < 100 or len(theirs) != len(ours):
        wrong.append((0, "too few", [], []))
    return wrong


def main():
    if sys.argv[1] == "all":
        for low, size, _ in functions(sys.argv[2]):
            for va in range(low, low + size):
                print(f"{va:#x}")
        return 0
    if sys.argv[1] == "shift":
        for line in sys.stdin:
            print(f"0x{int(line, 16) + int(sys.argv[2], 0):016x}" if line.startswith("0x") else line, end="\n" if line.startswith("0x") else "")
        return 0
    if sys.argv[1] == "tools":
        wrong = compare_tools(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        wrong = compare_same(sys.argv[2], sys.argv[3])
    for va, who, ours, other in wrong[:4]:
        print(f"  {va:#x}: neap {ours}\n      {who}: {other}")
    if wrong:
        print(f"  {len(wrong)} differences")
    return 1 if wrong else 0


sys.exit(main())
