#!/bin/sh
# The checks of `make lint` complain when they should, name the place, and have nothing to say about this tree.
set -u
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
n=0

report() { # ok|"not ok" sentence
	n=$((n + 1))
	echo "$1 $n - $2"
}

# A small tree that is in order; every case begins with it.
fresh() {
	rm -rf "$tree/src" "$tree/docs" "$tree/include"
	mkdir -p "$tree/src/base" "$tree/src/model" "$tree/src/engine" "$tree/src/cli" "$tree/docs" "$tree/include"
	spdx='/* SPDX-License-Identifier: Apache-2.0 */'
	printf '%s\nint arena(void);\n' "$spdx" > "$tree/src/base/arena.h"
	printf '%s\n#include "base/arena.h"\nint model(void);\n' "$spdx" > "$tree/src/model/pod.h"
	printf '%s\n#include "model/pod.h"\n#include <time.h>\nint cycle(void);\n' "$spdx" > "$tree/src/engine/cycle.c"
	printf '%s\n#include "base/log.h"\n#include "engine/cycle.h"\n' "$spdx" > "$tree/src/cli/main.c"
	printf 'Words.\n' > "$tree/docs/words.md"
}

# passes CHECK SENTENCE: the tree as it is now
passes() {
	if out=$("$tools/$1" "$tree" 2>&1) && [ -z "$out" ]; then report ok "$1: $2"; else report "not ok" "$1: $2"; echo "# $out"; fi
}

# fails CHECK PLACE SENTENCE: complains, and about PLACE
fails() {
	if out=$("$tools/$1" "$tree" 2>&1); then
		report "not ok" "$1: $3"
	elif echo "$out" | grep -qF "$2: "; then
		report ok "$1: $3"
	else
		report "not ok" "$1: $3"; echo "# wanted $2, got: $out"
	fi
}

# add FILE LINE...: lines at the end of a file
add() {
	file=$tree/$1; shift
	printf '%s\n' "$@" >> "$file"
}

fresh
passes check-layers "a tree in order"
passes check-banned "a tree in order"
passes check-time "a tree in order"
passes check-files "a tree in order"
passes check-width "a tree in order"

fresh; add src/model/pod.h '#include "engine/cycle.h"'
fails check-layers src/model/pod.h:4 "an earlier folder may not use a later one"
fresh; add src/model/pod.h '  #  include "engine/cycle.h"'
fails check-layers src/model/pod.h:4 "blanks in the directive hide nothing"
fresh; add src/model/pod.h '/* #include "engine/cycle.h" */' '// #include "engine/cycle.h"' '/*' '#include "cli/x.h"' '*/'
passes check-layers "an include in a comment is none"
fresh; add src/model/pod.h '#include "../engine/cycle.h"'
fails check-layers src/model/pod.h:4 "no way around by ../"
fresh; add src/model/pod.h '#include "base/../engine/cycle.h"'
fails check-layers src/model/pod.h:4 "no way around by a folder and .."
fresh; add src/engine/cycle.c '#include "pod.h"'
fails check-layers src/engine/cycle.c:5 "an include says its folder"
fresh; add src/engine/cycle.c '#include "base/log.h"'
fails check-layers src/engine/cycle.c:5 "the engine does not log"
fresh; add src/engine/cycle.c 'struct clock c = clock_system();'
fails check-layers src/engine/cycle.c:5 "the engine does not ask for the time"
fresh; add src/cli/main.c 'struct clock c = clock_system();'
passes check-layers "a program may ask for the time"
fresh; mkdir -p "$tree/src/misc"; cp "$tree/src/base/arena.h" "$tree/src/misc/"
fails check-layers src/misc/arena.h:1 "a folder that is in no order"
rm -rf "$tree/src/misc"

for name in strcpy strcat sprintf vsprintf gets strtok atoi atol atof alloca rand srand random strncpy scanf sscanf fscanf \
	setlocale system popen tmpnam mktemp; do
	fresh; add src/cli/main.c "	x = $name(a, b);"
	fails check-banned src/cli/main.c:4 "$name is banned everywhere"
done
for name in time gettimeofday clock_gettime getenv fopen open read write printf fprintf puts; do
	fresh; add src/engine/cycle.c "	x = $name (a, b);"
	fails check-banned src/engine/cycle.c:5 "$name is banned in the engine"
	fresh; add src/cli/main.c "	x = $name(a, b);"
	passes check-banned "$name is fine in a program"
done
fresh; add src/engine/cycle.c '/* strcpy(a, b) */' '// time(NULL)' 's = "sprintf(x) \" atoi(y)";' "c = '\"'; d = 1;"
passes check-banned "comments and strings are not code"
fresh; add src/engine/cycle.c "c = '\"'; strcpy(a, b); d = '\"';"
fails check-banned src/engine/cycle.c:5 "a quote in a character does not hide code"
fresh; add src/engine/cycle.c '/* one' 'two */ x = 1;' 'strcpy(a, b);'
fails check-banned src/engine/cycle.c:7 "lines are counted through comments"
fresh; add src/engine/cycle.c 'snprintf(b, n, "x"); vsnprintf(b, n, f, ap); my_system(1); x->read(y); z.open(y); lifetime(1);'
passes check-banned "other names, members and the bounded ones are fine"
fresh; printf 'int f(void) { return clock_gettime(0, 0); }\n' > "$tree/src/base/clock.c"
passes check-banned "the file whose purpose it is may"
fresh; printf 'int f(void) { return strcpy(0, 0); }\n' > "$tree/src/base/clock.c"
fails check-banned src/base/clock.c:1 "and only that"

for line in 'x = p->start_ns + window;' 'x = window + p->start_ns;' 'if (now_ns - since > y)' 'x_ns += 5;' 'until = (a ? b_ns : c_ns) + 1;' 'x = s->window_ns << n;' \
	'x = seconds * NS_PER_S;' 'x = (now - then_ns) * 2;'; do
	fresh; add src/engine/cycle.c "	$line"
	fails check-time src/engine/cycle.c:5 "$line"
done
fresh; add src/engine/cycle.c 'x = time_add(a_ns, b_ns);' 'int64_t *ret_ns;' 'f(x, *ret_ns);' 'x = 60 * NS_PER_S;' '/* a_ns + b_ns */' 'y = a_ns > -1 && b_ns / 2 == c->d_ns;' \
	'#define T_NS (INT64_C(5) * NS_PER_S)' 'x = -a_ns;'
passes check-time "calls, pointers, constants, comparisons and comments are fine"
fresh; printf 'x = a_ns + b_ns;\n' > "$tree/src/base/clock.h"
passes check-time "the file whose purpose it is may"

fresh; printf 'int x;\n' > "$tree/src/model/pod.h"
fails check-files src/model/pod.h:1 "the licence line"
word=TO; fresh; add docs/words.md "${word}DO: write"
fails check-files docs/words.md:2 "notes to oneself"
home=/wo temporary=/tm # in pieces, so that this file has no such path itself
fresh; add docs/words.md "see ${home}rk/x" "and ${temporary}p/y"
fails check-files docs/words.md:2 "paths of a machine"
fails check-files docs/words.md:3 "and temporary ones"
fresh; add docs/words.md "a${home}rk/x and ..${temporary}p/y and https://example.com/root/z"
passes check-files "paths that only look like it"
fresh; add docs/words.md "blank "
fails check-files docs/words.md:2 "blanks at the end"
fresh; printf 'x' >> "$tree/docs/words.md"
fails check-files docs/words.md:2 "no newline at the end"

line=$(printf '%0100d' 0)
fresh; add src/model/pod.h "/* 45678901234567$line */"
passes check-width "120 columns"
fresh; add src/model/pod.h "/* 456789012345678$line */"
fails check-width src/model/pod.h:4 "121 columns, in a comment too"
fresh; add src/model/pod.h "	/* 2345678901234 $line */"
fails check-width src/model/pod.h:4 "a tab is eight columns"
fresh; add src/model/pod.h "/* 4567890123456…$line */"
passes check-width "letters are counted, not bytes"
fresh; add docs/words.md "${line}${line}"
passes check-width "prose may be as wide as it likes"

for check in check-layers check-banned check-time check-files; do
	if out=$("$tools/$check" 2>&1); then report ok "$check: this tree"; else report "not ok" "$check: this tree"; echo "$out" | sed 's/^/# /'; fi
done
echo "1..$n"
