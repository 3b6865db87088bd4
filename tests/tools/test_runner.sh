#!/bin/sh
# tools/run-tests counts what happened and is not fooled by programs that crash, stop early or run nothing;
# tools/install-missing asks for root and network only when something is missing.
set -u
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

report() { # ok|"not ok" sentence
	n=$((n + 1))
	echo "$1 $n - $2"
}

# script NAME: an executable from standard input
script() {
	{ echo '#!/bin/sh'; cat; } > "$dir/$1"
	chmod +x "$dir/$1"
}

# counts SENTENCE CODE LAST_LINE NAME...: what run-tests makes of these programs
counts() {
	sentence=$1 code=$2 last=$3; shift 3
	out=$(cd "$dir" && "$tools/run-tests" --only "$@" 2>&1); got=$?
	if [ "$got" = "$code" ] && [ "$(echo "$out" | tail -n 1)" = "$last" ]; then
		report ok "$sentence"
	else
		report "not ok" "$sentence"; echo "# exit code $got"; echo "$out" | sed 's/^/# /'
	fi
}

script cmocka_good << 'END'
echo '[==========] Running 3 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
echo '[ RUN      ] b'; echo 'words without end[       OK ] b'
echo '[ RUN      ] c'; echo '# SKIP no luck'; echo '[  SKIPPED ] c'
echo '[==========] 3 test(s) run.'; echo '[  PASSED  ] 2 test(s).'
echo '[  SKIPPED ] 1 test(s), listed below:'; echo '[  SKIPPED ] c'
END
script cmocka_bad << 'END'
echo '[==========] Running 2 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
echo '[ RUN      ] b'; echo '[  ERROR   ] --- 0x1 != 0x2'; echo '[  FAILED  ] b'
echo '[==========] 2 test(s) run.'; echo '[  PASSED  ] 1 test(s).'
echo '[  FAILED  ] 1 test(s), listed below:'; echo '[  FAILED  ] b'
exit 1
END
script cmocka_crash << 'END'
echo '[==========] Running 2 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
echo '[ RUN      ] b'
kill -ABRT $$
END
script cmocka_left << 'END'
echo '[==========] Running 2 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
exit 0
END
script cmocka_leak << 'END'
echo '[==========] Running 1 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
exit 23
END
script cmocka_none << 'END'
echo '[==========] Running 0 test(s).'
END
script tap_good << 'END'
echo 'ok 1 - a'; echo 'ok 2 - b # SKIP no network'; echo 'okay is no result'; echo '1..2'
END
script tap_bad << 'END'
echo 'ok 1 - a'; echo 'not ok 2 - b'; echo '1..2'
END
script tap_short << 'END'
echo '1..3'; echo 'ok 1 - a'; echo 'ok 2 - b'
END
script tap_skip << 'END'
echo '1..0 # SKIP no such system'
END
script tap_silent << 'END'
echo 'all is well'
END
script tap_bail << 'END'
echo 'ok 1 - a'; echo 'Bail out! no program'
END

counts "a cmocka program by test function" 0 "2 passed, 0 failed, 1 skipped" cmocka_good
counts "a failed function is counted once" 1 "1 passed, 1 failed" cmocka_bad
counts "a crash is one failure" 1 "1 passed, 1 failed" cmocka_crash
counts "leaving early is a failure" 1 "1 passed, 1 failed" cmocka_left
counts "a bad exit code is a failure though all passed" 1 "1 passed, 1 failed" cmocka_leak
counts "no test is a failure" 1 "0 passed, 1 failed" cmocka_none
counts "a script by its lines" 0 "1 passed, 0 failed, 1 skipped" tap_good
counts "a failed line, with exit code 0" 1 "1 passed, 1 failed" tap_bad
counts "fewer lines than announced" 1 "2 passed, 1 failed" tap_short
counts "a script may skip everything" 0 "0 passed, 0 failed, 1 skipped" tap_skip
counts "a script without a line ran nothing" 1 "0 passed, 1 failed" tap_silent
counts "bailing out is a failure" 1 "1 passed, 1 failed" tap_bail
counts "sums over programs" 1 "4 passed, 1 failed, 2 skipped" cmocka_good tap_good cmocka_bad
counts "a program that is not there" 1 "0 passed, 1 failed" nowhere

# says SENTENCE LINE NAME...: one of the lines of run-tests
says() {
	sentence=$1 line=$2; shift 2
	out=$(cd "$dir" && "$tools/run-tests" --only "$@" 2>&1)
	if echo "$out" | grep -qxF -- "$line"; then report ok "$sentence"; else report "not ok" "$sentence"; echo "$out" | sed 's/^/# /'; fi
}
script cmocka_mute << 'END'
echo '[==========] Running 1 test(s).'
echo '[ RUN      ] c'; echo '[  SKIPPED ] c'
END
says "why a function was skipped" "    skipped: c: no luck" cmocka_good
says "a function that does not say why is told of" "    skipped: c: it does not say why" cmocka_mute
says "why a line was skipped" "    skipped: b: no network" tap_good
says "why everything was skipped" "    skipped: all: no such system" tap_skip
UPDATE=1; export UPDATE
counts "UPDATE is for one test at a time: nothing is run" 2 "0 passed, 1 failed" tap_good
unset UPDATE

# A Debian where every tool is a stub: dpkg-query knows "here", the rest leaves its words in the log.
stubs=$dir/bin; mkdir -p "$stubs"
for tool in sh env grep cat; do ln -s "$(command -v $tool)" "$stubs/$tool"; done
stub() { # NAME, its body from standard input
	{ echo "#!$stubs/sh"; cat; } > "$stubs/$1"
	chmod +x "$stubs/$1"
}
stub dpkg-query << END
case " \$* " in *" here "*) echo "here installed" ;; esac
case " \$* " in *" gone "*) echo "gone config-files" ;; esac
case " \$* " in *" unknown "*) exit 1 ;; esac
END
echo 'echo "apt-get $*" >> "$LOG"' | stub apt-get
echo 'echo "sudo" >> "$LOG"; exec "$@"' | stub sudo
echo 'echo $STUB_UID' | stub id

# installs SENTENCE UID CODE WANTED_LOG PACKAGE...: who is asked for what
installs() {
	sentence=$1 uid=$2 code=$3 wanted=$4; shift 4
	: > "$dir/log"
	env -i PATH="$stubs" LOG="$dir/log" STUB_UID="$uid" "$stubs/sh" "$tools/install-missing" "$@" > "$dir/out" 2>&1; got=$?
	log=$(sed -e 's/ -o [^ ]*//g' -e 's/ -qq//' "$dir/log" | tr '\n' ';')
	if [ "$got" = "$code" ] && [ "$log" = "$wanted" ]; then report ok "$sentence"; else report "not ok" "$sentence"; echo "# exit code $got, $log"; sed 's/^/# /' "$dir/out"; fi
}
installs "nothing missing: nothing asked" 1000 0 "" here
installs "root installs" 0 0 "apt-get update;apt-get install -y --no-install-recommends unknown;" here unknown
installs "others use sudo" 1000 0 "sudo;apt-get update;sudo;apt-get install -y --no-install-recommends gone unknown;" gone here unknown
rm "$stubs/sudo"
installs "no sudo: say what is needed" 1000 1 "" unknown
rm "$stubs/dpkg-query"
installs "no Debian: leave it to the user" 1000 0 "" unknown
echo "1..$n"
