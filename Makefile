# `make run` and `make test` are what most people need; both work on a bare Debian 12 (as root or with sudo).
# The work is done by meson and ninja; this file installs what a target needs, says how to configure, and runs the result.
# `make help` lists everything.
.DEFAULT_GOAL := run
.NOTPARALLEL:

DIR ?= ../shared/conformance
ORACLE ?= ../shared/oracle-kube
KAI_ORACLE ?= ../shared/oracle-kai
COUNT ?= 300
SEED ?= 7
SECONDS ?= 60
N ?=
FUZZERS ?=
CASES ?=
export JOBS ?= $(shell nproc)

# Debian packages, by what needs them. Recommended ones are not installed, so the C library's headers are named.
PKG_RUN := gcc libc6-dev meson ninja-build pkgconf libyaml-dev libsqlite3-dev libzstd-dev libcurl4-openssl-dev libmicrohttpd-dev libgnutls28-dev
PKG_TEST := $(PKG_RUN) libcmocka-dev
PKG_LINT := $(PKG_RUN) clang clang-tidy clang-format
PKG_FUZZ := $(PKG_RUN) clang libclang-rt-14-dev
PKG_COVERAGE := $(PKG_TEST) gcovr
PKG_CLUSTER := $(PKG_RUN) python3 openssl
PKG_DEB := $(PKG_RUN) build-essential debhelper lintian
PKG_IMAGE := $(PKG_DEB) python3 ca-certificates
PKG_PACKAGES := $(PKG_IMAGE) debootstrap prometheus
PKG_WEB := $(PKG_RUN) python3 chromium fonts-dejavu-core
PKG_BENCH := $(PKG_RUN) libcjson-dev

# What is measured is what is packaged: optimised as one program.
RELEASE := -Dbuildtype=release -Db_lto=true
KNOWN := $(wildcard tests/conformance/known_differences.yaml)
RUN_TESTS := tools/run-tests --jobs $(JOBS)
# The thread sanitizer wants its memory where it expects it, which newer kernels shuffle too much.
FIXED_ADDRESSES = $(shell setarch -R true 2> /dev/null && echo setarch -R)

.PHONY: run build test conform oracle properties soak soak-sim test-asan test-tsan fuzz lint coverage test-cluster test-cluster-short soak-cluster bench-cluster test-web pictures bench clean help

run: build ## build, and show and plan the example cluster
	@for command in show plan; do \
		set -- build/cede $$command -f examples/gpu-cluster --now 2026-11-15T12:00:00Z; \
		printf '\n$$ %s\n' "$$*"; "$$@" || exit; done

build: ## build build/cede
	@tools/install-missing $(PKG_RUN)
	@tools/configure build
	@tools/build build cede

.PHONY: library
library: ## build build/libcede.so and build/libcede.a, for programs that use include/cede.h
	@tools/install-missing $(PKG_RUN)
	@tools/configure build
	@tools/build build library

test: ## every test that needs no network; the last line counts them
	@tools/install-missing $(PKG_TEST)
	@tools/configure build
	@tools/build build
	@$(RUN_TESTS) build --conform $(DIR)

conform: ## the facts about other schedulers in DIR=../shared/conformance
	@tools/install-missing $(PKG_RUN)
	@tools/configure build
	@if [ ! -d $(DIR) ]; then echo "conform: no $(DIR) here, skipped"; else \
		tools/build build conform && build/conform $(DIR) $(KNOWN:%=--known %); fi

oracle: build ## random clusters, compared with the real kube-scheduler and with KAI's actions (COUNT=300 SEED=7)
	@tools/run-oracle build/cede $(ORACLE) $(KAI_ORACLE) $(COUNT) $(SEED)

properties: ## invariants on random clusters: decisions tried and violations (N=how many)
	@tools/install-missing $(PKG_TEST)
	@tools/configure build
	@tools/build build
	@$(if $(N),CEDE_N=$(N)) $(RUN_TESTS) build --suite properties --show --patience 100

soak: ## the same for SECONDS=60
	@tools/install-missing $(PKG_TEST)
	@tools/configure build
	@tools/build build
	@$(RUN_TESTS) build --suite properties --show --share-seconds $(SECONDS)

soak-sim: ## whole traces in virtual time, with every invariant counted again after each moment (N=1000000 decisions)
	@tools/install-missing $(PKG_TEST)
	@tools/configure build
	@tools/build build test_trace_runs
	@CEDE_SOAK=$(or $(N),1000000) build/test_trace_runs

test-asan: ## the tests with the address and undefined behaviour sanitizers
	@tools/install-missing $(PKG_TEST)
	@tools/configure build-asan -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false
	@tools/build build-asan
	@ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		$(RUN_TESTS) build-asan --conform $(DIR) --patience 10

test-tsan: ## the tests with the thread sanitizer (SUITE=run,engine/test_spread: the C tests of a folder, or one of them, alone)
	@tools/install-missing $(PKG_TEST)
	@tools/configure build-tsan -Db_sanitize=thread -Db_lundef=false
	@tools/build build-tsan
	@TSAN_OPTIONS=halt_on_error=1:abort_on_error=1 \
		$(FIXED_ADDRESSES) $(RUN_TESTS) build-tsan $(if $(SUITE),--suite $(SUITE),--conform $(DIR)) --patience 10

fuzz: ## every fuzzer for SECONDS=60, with sanitizers (FUZZERS=pipeline: only these)
	@tools/install-missing $(PKG_FUZZ)
	@CC=clang tools/configure build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
	@tools/build build-fuzz fuzzers
	@tools/run-fuzz build-fuzz $(SECONDS) $(FUZZERS)

lint: ## format, clang-tidy, layers, banned functions, sums of times
	@tools/install-missing $(PKG_LINT)
	@CC=clang tools/configure build-lint
	@tools/run-lint build-lint

coverage: ## how much of src/ the tests run through
	@tools/install-missing $(PKG_COVERAGE)
	@tools/configure build-coverage -Db_coverage=true -Dbuildtype=debug
	@tools/build build-coverage
	@find build-coverage -name '*.gcda' -delete
	@$(RUN_TESTS) build-coverage --conform $(DIR) --patience 10
	@gcovr -j $(JOBS) --root . --filter src/ --print-summary \
		--txt build-coverage/coverage.txt --html-details build-coverage/coverage.html build-coverage > build-coverage/summary.txt
	@cat build-coverage/coverage.txt build-coverage/summary.txt

test-cluster: ## against a real etcd, kube-apiserver, kube-controller-manager and kwok; built once, which takes a while
	@tools/install-missing $(PKG_CLUSTER)
	@$(MAKE) --no-print-directory build
	@tools/build build follow
	@tests/cluster/run build/cede

test-cluster-short: ## the part of it that CI runs: only where the components are cached, and for two minutes at most
	@$(MAKE) --no-print-directory build
	@tests/cluster/short build/cede

soak-cluster: ## pods come and go on 1,000 nodes for SECONDS=60: memory, descriptors and threads flat, and the cluster known as it is
	@tools/install-missing $(PKG_CLUSTER)
	@$(MAKE) --no-print-directory build
	@tests/cluster/soak build/cede $(SECONDS)

bench-cluster: ## cede and the real kube-scheduler in turn on a real API server (CASES=PreemptionBasic/1000)
	@tools/install-missing $(PKG_CLUSTER)
	@$(MAKE) --no-print-directory build
	@bench/cluster.py build/cede $(CASES) --out bench/results/cluster.json

.PHONY: browser
browser: ## the browser that tests of the pages need; where it is, they are part of `make test`
	@tools/install-missing $(PKG_WEB)

test-web: browser ## the console and the pages that cede writes, in headless Chromium
	@$(MAKE) --no-print-directory build
	@$(RUN_TESTS) --only tests/web/test_*.py

pictures: build ## the pictures of the console that the documentation shows
	@tools/install-missing $(PKG_WEB)
	@tools/make-pictures

bench: ## measured comparisons: prints the tables, writes bench/results/*.json
	@if [ -z "$$(tools/list-files bench 'bench_*.c')" ]; then echo "bench: nothing to measure yet, skipped"; else \
		tools/install-missing $(PKG_BENCH) && tools/configure build-bench $(RELEASE) && \
		tools/build build-bench bench-programs && tools/run-bench build-bench; fi

.PHONY: bench-growth
bench-growth: ## how times grow with nodes, waiting pods and queues: exponents (ROWS=default,kai)
	@tools/install-missing $(PKG_BENCH) python3
	@tools/configure build-bench $(RELEASE)
	@tools/build build-bench bench/bench_live
	@mkdir -p bench/results
	@bench/growth.py build-bench $(if $(ROWS),--rows $(ROWS)) --out bench/results/growth.json

.PHONY: bench-peers
bench-peers: ## cede beside the code of kube-scheduler, YuniKorn and KAI on the same clusters (PEERS=kube NODES=100,1000); needs Go
	@tools/install-missing $(PKG_BENCH) python3
	@tools/configure build-bench $(RELEASE)
	@tools/build build-bench bench/peers_cede
	@mkdir -p bench/results
	@bench/peers/run.py build-bench $(if $(PEERS),--peers $(PEERS)) $(if $(NODES),--nodes $(NODES)) --out bench/results/peers.json
	@bench/peers/draw.py bench/results/peers.json build-bench/peers.svg

.PHONY: dist deb image test-packages
dist: ## a source archive below build/, the same bytes for the same commit
	@tools/make-dist build

deb: ## Debian packages below build/, checked with lintian
	@tools/install-missing $(PKG_DEB)
	@tools/make-deb build

image: deb ## an OCI image below build/, made of Debian packages without a daemon or a base image
	@tools/install-missing $(PKG_IMAGE)
	@SOURCE_DATE_EPOCH=$$(tools/source-date) tools/make-image build/cede_$$(tools/version)_*.deb build

test-packages: build image ## packages installed, used and removed in a bare Debian; the image run; metrics scraped by a Prometheus
	@tools/install-missing $(PKG_PACKAGES)
	@tests/packaging/run build

.PHONY: guard
guard: ## instructions of fixed decisions against bench/guard.baseline (UPDATE=1 writes it; skipped without valgrind)
	@tools/install-missing $(PKG_BENCH)
	@tools/configure build-bench $(RELEASE)
	@tools/build build-bench bench/guard
	@tools/guard build-bench

clean: ## remove what was built
	@rm -rf build build-asan build-tsan build-fuzz build-lint build-coverage build-bench

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'
