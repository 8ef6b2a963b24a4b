# Each target installs what it needs (Debian 12; by apt-get, with sudo where you are not root) and
# builds what it uses. What is built stands in target/.
#
#   make build      the command, the runtime library, and for each of LLVMS a plugin, what makes
#                   versions at run time, and the environment of `midflight vm`
#   make demo       profile bzip2, and print the report
#   make test       everything that must hold, on LLVM 22 and 19
#   make lint       formatting and clippy
#   make pictures   the pictures of the README, anew
#   make bench      cost beside native and other profilers, what memory holds, what a profile
#                   gains, time of compiling, and more:
#                   target/bench/*.md
#   make nightly    as test, on thousands of random programs and the whole corpus
#   make check-same BEFORE=REVISION
#                   nothing changed that a user sees: checksums of emitted IR, prints, profiles and reports
#   make install    into PREFIX
#   make clean

LLVMS ?= 22
BOTH := 22 19
PREFIX ?= /usr/local
CARGO ?= cargo

OUT := target/release
LIB := $(OUT)/lib/midflight
BENCH := $(OUT)/midflight-bench
RUNTIME_DIR := target/runtime
# It stays below 288 KiB; what is hot in it is inlined by attributes.
RUNTIME_FLAGS := -C llvm-args=-inline-threshold=20
AARCH64 := target/aarch64
HEADERS := runtime-lib/include/midflight.h plugin/include/midflight_osr_api.h

# Installs packages that are missing, and Rust.
NEED := CARGO='$(CARGO)' scripts/need.sh

# Packages: to build for a version of LLVM, and what only tests and measurements need.
packages = llvm-$(1)-dev clang-$(1) lld-$(1)
BUILD_PACKAGES := g++ binutils
RT_PACKAGES := libclang-rt-22-dev
AARCH64_PACKAGES := g++-aarch64-linux-gnu qemu-user
# What LLVM's static libraries ask for, which crates link that use inkwell.
STATIC_PACKAGES := libpolly-22-dev libz3-dev libzstd-dev libxml2-dev zlib1g-dev libffi-dev
TEST_PACKAGES := cargo-clippy:rust-web-clippy rustfmt:rustfmt-web $(RT_PACKAGES) libclang-rt-19-dev $(STATIC_PACKAGES) llvm-22-tools llvm-19-tools clang-format-22 ccache csmith libcsmith-dev lcov graphviz time python3

# What whole projects need to be built and tested.
PROJECT_PACKAGES := cmake tcl-dev

# Checks of `make test`; `make nightly` widens them.
# Each LLVM at levels of optimization, and what is left out with the newer and the older one
LIT ?= 22:2,19:2
LIT_NEWER ?= --filter-out 'osr/open/program-(levels|links|library)'
LIT_OLDER ?= --filter-out osr/
# With which LLVM the crates that use it are tested
RUST_LLVMS ?= 22
SEEDS ?= 0..12
OSR_SEEDS ?= 0..4
OSR_TRANSITIONS ?= 10000000
OSR_FUZZ ?= --programs zlib,exceptions
# Random programs in versions that are made while they run.
OPEN_SEEDS ?= 0..4
# The thesis's passes.
OSR_PASSES ?= adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink
OSR_OPT_SEEDS ?= 0..4
# What copies blocks, or makes one of several.
OSR_COPYING := loop-simplify,lcssa,loop(loop-rotate),loop-unroll,simplifycfg,jump-threading
# Other pipelines: those under which programs are fuzzed, and random ones, which are small for all of them.
# `make nightly` has OSR_ALL.
OSR_FEW := default<O2>
OSR_SOME := instcombine<no-verify-fixpoint> gvn $(OSR_COPYING) default<O2>
OSR_ALL := $(OSR_SOME) early-cse loop-simplify,lcssa,loop-mssa(licm) sccp reassociate simplifycfg loop(loop-rotate) \
	default<O1> loop-unroll<O3> loop-mssa(simple-loop-unswitch<nontrivial>) jump-threading
OSR_FUZZED ?= OSR_FEW
OSR_RANDOM ?= OSR_FEW
OSR_SMALL_SEEDS ?= 0..50
# Whole programs that are woven under every pipeline, and on which LLVMs
OSR_WOVEN ?= --programs lua --llvm 22
OSR_ENTRY ?= early-cse,gvn;up=entry
OSR_ENTRY_FUZZ ?= --programs exceptions --llvm 22 --levels 2:early --max-points 6 --single 5 --no-mutants
OSR_DEOPT ?= --programs exceptions --when every:3 --llvm 22
# Mutants are tried with the thesis's passes.
OSR_OTHER_FUZZ ?= --programs exceptions --llvm 22 --levels 2:early --max-points 40 --single 5 --no-mutants
OSR_OPT_FUZZ ?= --programs exceptions --llvm 22 --levels 2:early --max-points 40 --single 5
PROGRAMS ?= light
# Those whose edges are compared with clang's counters, and those whose coverage is
EDGES ?= bzip2,exceptions
COVERED ?= bzip2,expat
# Those that are built with the older LLVM
OLDER_PROGRAMS ?= bzip2,exceptions
CONTEXT_LLVMS ?= 22
# Those whose calling contexts are compared with the unwinder's
UNWOUND ?= bzip2,expat,exceptions,lua
BURST_OPT ?= 2
# Levels at which outputs are compared; edges are checked at the others.
OUTPUT_OPT ?= 3
BLOCKS_OPT ?= 2
PROJECTS ?= lua
ALGORITHMS ?= fannkuch,expat
ENTRIES ?= connect4,exceptions
REPLAYED ?= bzip2,fannkuch
PROPTEST_CASES ?=
# `--include-ignored` for tests that take long, too
RUST_IGNORED ?=
# Features that the crates in examples/ are built with, one after the other.
EXAMPLE ?= llvm22-1
CRATES := jit interpreter deopt
# What programs for AArch64 are checked with.
AARCH64_OPT ?= 2
AARCH64_SEEDS ?= 0..2
# Set for all of it
AARCH64_WHOLE ?=
AARCH64_TESTS ?= programs endings osr published
# Rounds of what is random in Miri, where a round takes seconds.
MIRI_CASES ?= 2

# The C++ of the bridge is the same for all that is built with one LLVM.
ifneq ($(shell command -v ccache),)
export HOST_CXX ?= ccache g++
endif

.DEFAULT_GOAL := build
# The plugins of both LLVMs are built under one name, and cargo uses all processors by itself.
.NOTPARALLEL:
.PHONY: build demo pictures test lint bench nightly install clean command runtime harness need-build \
	need-test check-rust check-examples check-open check-tsan check-miri check-lit check-osr check-maps check-corpus check-builds check-matrix \
	check-random check-documentation check-aarch64 check-suites check-bare check-same \
	build-both aarch64

# --- building ---------------------------------------------------------------------------------

build: need-build command runtime $(LLVMS:%=plugin-%)

need-build:
	@$(NEED) $(BUILD_PACKAGES) $(foreach llvm,$(LLVMS),$(call packages,$(llvm)))

need-test:
	@$(NEED) $(BUILD_PACKAGES) $(TEST_PACKAGES) \
		$(foreach llvm,$(BOTH),$(call packages,$(llvm)))

# As tests have it: each check has a mutant of the plugin that it must catch.
build-both:
	@$(MAKE) --no-print-directory build LLVMS="$(BOTH)" PLUGIN_FEATURES=,mutants

command:
	$(CARGO) build --release -p midflight --target-dir target
	ln -sf midflight $(OUT)/midflight-cc
	ln -sf midflight $(OUT)/midflight-c++

runtime:
	$(CARGO) rustc -q -p midflight-runtime --profile runtime --features standalone \
		--crate-type staticlib --target-dir $(RUNTIME_DIR) -- $(RUNTIME_FLAGS)
	runtime-lib/package.sh static $(RUNTIME_DIR)/runtime/libmidflight_rt.a $(LIB)/libmidflight_rt.a
	install -d $(LIB)/include
	install -m 644 $(HEADERS) $(LIB)/include/
	runtime-lib/package.sh shared $(RUNTIME_DIR)/runtime/libmidflight_rt.a $(LIB)/libmidflight_rt.so

# The plugin, what makes versions at run time, and `midflight vm`. The crates without LLVM are built once for all of
# them. A library that is loaded has one name in
# target/, whatever its features: cargo must not take the one of another LLVM for this one.
plugin-%:
	@[ "$$(cat $(OUT)/.plugin-of 2>/dev/null)" = "$*$(PLUGIN_FEATURES)" ] || rm -rf $(OUT)/.fingerprint/midflight-plugin-* $(OUT)/.fingerprint/midflight-jit-* $(OUT)/.fingerprint/midflight-vm-*
	@mkdir -p $(LIB)/llvm-$*
	@echo $*$(PLUGIN_FEATURES) > $(OUT)/.plugin-of
	$(CARGO) build --release -p midflight-plugin -p midflight-jit -p midflight-vm --no-default-features \
		--features llvm$*-1$(PLUGIN_FEATURES) --target-dir target
	@# New files, not new bytes in those that a running compiler or program may have mapped.
	cp $(OUT)/libmidflight.so $(LIB)/llvm-$*/.libmidflight.so
	mv -f $(LIB)/llvm-$*/.libmidflight.so $(LIB)/llvm-$*/libmidflight.so
	cp $(OUT)/libmidflight_jit.so $(LIB)/llvm-$*/.libmidflight_jit.so
	mv -f $(LIB)/llvm-$*/.libmidflight_jit.so $(LIB)/llvm-$*/libmidflight_jit-$*.so
	cp $(OUT)/midflight-vm $(LIB)/llvm-$*/.midflight-vm
	mv -f $(LIB)/llvm-$*/.midflight-vm $(LIB)/llvm-$*/midflight-vm

# What programs for AArch64 link, with the plugins beside it, so that it can be MIDFLIGHT_LIB_DIR.
aarch64:
	@$(NEED) $(AARCH64_PACKAGES)
	@scripts/rust-aarch64.sh $(AARCH64)/rust
	RUSTC=$(CURDIR)/$(AARCH64)/rust/rustc $(CARGO) rustc -q -p midflight-runtime --profile runtime \
		--features standalone --crate-type staticlib --target aarch64-unknown-linux-gnu --target-dir $(AARCH64)/runtime \
		-- $(RUNTIME_FLAGS)
	@for kind in static:a shared:so; do runtime-lib/package.sh $${kind%:*} \
		$(AARCH64)/runtime/aarch64-unknown-linux-gnu/runtime/libmidflight_rt.a \
		$(AARCH64)/lib/midflight/libmidflight_rt.$${kind#*:} aarch64 || exit; done
	ln -sfn $(foreach llvm,$(BOTH),$(CURDIR)/$(LIB)/llvm-$(llvm)) $(AARCH64)/lib/midflight

harness:
	$(CARGO) build --release -p midflight-bench --target-dir target

# --- using ------------------------------------------------------------------------------------

demo:
	@$(MAKE) --no-print-directory build LLVMS=22
	@$(MAKE) --no-print-directory harness
	@scripts/demo.sh

pictures: demo
	@$(NEED) chromium aha
	@scripts/pictures.sh

bench:
	@$(NEED) $(RT_PACKAGES) valgrind gcc time
	@$(MAKE) --no-print-directory build LLVMS=22
	@$(MAKE) --no-print-directory harness
	$(BENCH) run --held
	$(BENCH) run --simulate --stage late --k 1,4
	$(BENCH) accuracy
	$(BENCH) pgo
	$(BENCH) pgo --simulate
	$(BENCH) compile-time
	$(BENCH) contexts cost --peers
	$(BENCH) contexts cost --simulate
	$(BENCH) contexts calls
	$(BENCH) contexts accuracy
	$(BENCH) contexts bound
	$(BENCH) osr cost
	$(BENCH) osr open
	$(BENCH) osr maps --llvm 22

install: build
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/midflight
	install -m 755 $(OUT)/midflight $(DESTDIR)$(PREFIX)/bin/midflight
	ln -sf midflight $(DESTDIR)$(PREFIX)/bin/midflight-cc
	ln -sf midflight $(DESTDIR)$(PREFIX)/bin/midflight-c++
	cp -R $(LIB)/. $(DESTDIR)$(PREFIX)/lib/midflight/
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/

clean:
	rm -rf target

# --- checking ---------------------------------------------------------------------------------

test: need-test
	@scripts/checks.sh $(MAKE) lint build-both check-rust check-examples check-lit check-osr check-open check-corpus check-documentation check-builds check-random check-aarch64

lint: need-test
	$(CARGO) fmt --all --check
	$(foreach crate,$(CRATES),$(CARGO) fmt --manifest-path examples/$(crate)/Cargo.toml --check &&) true
	$(CARGO) clippy --workspace --exclude midflight-bridge --exclude midflight-passes \
		--exclude midflight-plugin --exclude midflight-orc --exclude midflight-jit --exclude midflight-vm --all-targets --target-dir target -- -D warnings
	MIDFLIGHT_CHECK_ONLY=1 $(CARGO) clippy -p midflight-bridge -p midflight-passes -p midflight-plugin -p midflight-orc -p midflight-jit -p midflight-vm -p midflight-bench \
		--no-default-features --features llvm22-1,midflight-plugin/mutants --all-targets --target-dir target -- -D warnings
	@# No other crates differ between versions of LLVM; build-both compiles what is for the older
	@# one.
	$(if $(findstring 19,$(RUST_LLVMS)),MIDFLIGHT_CHECK_ONLY=1 $(CARGO) clippy \
		-p midflight-bridge -p midflight-plugin -p midflight-orc -p midflight-jit -p midflight-vm \
		--no-default-features --features llvm19-1 --all-targets --target-dir target -- -D warnings)
	clang-format-22 --dry-run -Werror bridge/cpp/*.cpp bridge/cpp/*.h plugin/cpp/*.cpp

check-rust: harness
	$(CARGO) test --no-fail-fast -p midflight-abi -p midflight-profile -p midflight-ir -p midflight-mapping -p midflight-runtime -p midflight \
		-p midflight-bench --target-dir target -- $(RUST_IGNORED)
	$(foreach llvm,$(subst $(comma), ,$(RUST_LLVMS)),$(CARGO) test --no-fail-fast -p midflight-bridge -p midflight-passes \
		--no-default-features --features llvm$(llvm)-1 --target-dir target &&) true
	@# By itself: it links LLVM in its own way, and features add up.
	$(foreach llvm,$(subst $(comma), ,$(RUST_LLVMS)),$(CARGO) test --no-fail-fast -p midflight-vm --no-default-features --features llvm$(llvm)-1 \
		--target-dir target &&) true

# Crates as users of the API write them, outside the workspace: with LLVM's static libraries, which inkwell
# links if it is not told otherwise, and with the shared one.
check-examples:
	$(foreach features,$(subst $(comma), ,$(EXAMPLE)),$(foreach crate,$(CRATES),$(CARGO) run --locked \
		--manifest-path examples/$(crate)/Cargo.toml --target-dir target/examples --no-default-features \
		--features $(features) &&)) true

# The runtime under ThreadSanitizer, all of it; check-rust does most of it as well.
check-tsan:
	$(CARGO) test -p midflight-runtime --test tsan --test soak --target-dir target -- --include-ignored

# Forests, readers and the runtime's automaton in Miri, which finds undefined behaviour; it is a part of
# nightly Rust. What the runtime keeps in a word is an address and more, hence permissive provenance; and it
# keeps all memory that it counts in.
check-miri:
	@command -v rustup >/dev/null || { echo "Miri is a part of nightly Rust, which comes by https://rustup.rs" >&2; exit 1; }
	@$(CARGO) +nightly miri --version || rustup toolchain install nightly --profile minimal --component miri,rust-src
	PROPTEST_CASES=$(MIRI_CASES) MIRIFLAGS=-Zmiri-disable-isolation \
		$(CARGO) +nightly miri test -p midflight-abi -p midflight-profile --all-features --target-dir target/miri
	PROPTEST_CASES=$(MIRI_CASES) MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-ignore-leaks' \
		$(CARGO) +nightly miri test -p midflight-runtime --lib --features tsan --target-dir target/miri

comma := ,
left_out = $(if $(filter 19,$(1)),$(LIT_OLDER),$(LIT_NEWER))
lit = MIDFLIGHT_LEVEL=-O$(2) LLVM_BIN=/usr/lib/llvm-$(1)/bin \
	MIDFLIGHT_PLUGIN=$(CURDIR)/$(LIB)/llvm-$(1)/libmidflight.so /usr/lib/llvm-22/bin/lit -sv $(call left_out,$(1)) lit-tests

check-lit:
	$(foreach run,$(subst $(comma), ,$(LIT)),$(call lit,$(word 1,$(subst :, ,$(run))),$(word 2,$(subst :, ,$(run)))) &&) true

# Moves running programs between versions: every point that is reached may fire.
check-osr: harness
	$(BENCH) osr stack --transitions $(OSR_TRANSITIONS)
	$(BENCH) osr fuzz $(OSR_FUZZ)
	$(BENCH) osr csmith --seeds $(OSR_SEEDS)
	$(BENCH) osr fuzz --passes '$(OSR_PASSES)' $(OSR_OPT_FUZZ)
	$(BENCH) osr csmith --passes '$(OSR_PASSES)' --seeds $(OSR_OPT_SEEDS)
	$(foreach passes,$($(OSR_FUZZED)),$(BENCH) osr fuzz --passes '$(passes)' $(OSR_OTHER_FUZZ) &&) true
	$(foreach passes,$($(OSR_RANDOM)),$(BENCH) osr csmith --passes '$(passes)' --seeds $(OSR_OPT_SEEDS) &&) true
	$(foreach passes,$(OSR_PASSES) $(OSR_ALL),$(BENCH) osr csmith --small --max-points 0 --passes '$(passes)' \
		--seeds $(OSR_SMALL_SEEDS) &&) true
	$(BENCH) osr maps --what woven $(OSR_WOVEN)
	$(BENCH) osr fuzz --passes '$(OSR_ENTRY)' $(OSR_ENTRY_FUZZ)
	$(BENCH) osr deopt $(OSR_DEOPT)

# Random programs that call what they get, in versions that are made and left.
check-open: harness
	$(BENCH) osr open-fuzz --seeds $(OPEN_SEEDS)

# No pass may break the mapping of what it did.
check-maps: harness
	$(BENCH) osr maps --what functions,pipelines

check-corpus: harness
	@# check-matrix has every level, stage and LLVM.
	$(BENCH) verify --programs $(PROGRAMS) --check output --stage early --opt $(OUTPUT_OPT) --llvm 22
	$(BENCH) verify --programs $(OLDER_PROGRAMS) --check output --stage late --opt 2 --llvm 19
	$(BENCH) verify --programs $(EDGES) --check edges --opt 2 --llvm 22
	$(BENCH) verify --programs $(OLDER_PROGRAMS) --check edges --opt 2 --llvm 19
	$(BENCH) verify --programs $(REPLAYED) --check edges --opt 2 --llvm 22 --k 1 --stage early,inlined,late
	$(BENCH) verify --programs $(REPLAYED) --check blocks --opt $(BLOCKS_OPT) --llvm 22
	$(BENCH) verify --programs $(ALGORITHMS) --check algorithms --opt 2 --llvm 22
	$(BENCH) verify --programs $(UNWOUND) --check contexts --stage late --opt 2 --llvm $(CONTEXT_LLVMS)
	$(BENCH) verify --programs $(REPLAYED),tree-sitter,exceptions --check bursts --stage late --opt $(BURST_OPT) --llvm $(CONTEXT_LLVMS)
	$(BENCH) verify --programs $(ENTRIES) --check entries --opt 2
	$(BENCH) verify --programs exceptions --check entries --opt 0
	$(BENCH) contexts bound --quick
	$(BENCH) coverage --programs $(COVERED)

# Whole projects by their own build systems, and their own test suites.
check-builds: harness
	$(BENCH) builds --projects $(PROJECTS)

# Every command of the documentation, as it stands.
check-documentation: harness
	@$(NEED) cmake
	$(BENCH) documentation

# A bare Debian needs nothing from elsewhere.
check-bare:
	@scripts/bare.sh

check-random: harness
	$(BENCH) csmith --seeds $(SEEDS)

# Programs for AArch64, in QEMU: profiles at every stage, for paths and sequences, points that
# fire, the stack, points that are armed, calling contexts and their times, and the runtime's own
# tests: threads, signals, ways out. Left out of these is what QEMU does not do as Linux does
# (children in the parent's memory, a program that executes itself, limits on memory, seccomp),
# ends by faults, at which Debian 12's QEMU fails an assertion of its own, and what is for x86-64
# (code without a frame).
AARCH64_SKIPPED := a_child_that_shares_memory_counts_in_its_parent \
	a_program_that_becomes_itself_does_not_replace_its_own_profile without_any_memory_the_program_runs_on \
	a_handler_for_one_time_is_followed_by_a_profile \
	faults_end_the_program_as_they_would_and_leave_a_profile \
	stack_overflows_leave_a_profile_whatever_stack_for_handlers_there_is \
	patched::code_that_cannot_be_made_writable_is_told code_without_a_frame_enters_the_runtime
ifeq ($(shell uname -m),x86_64)
check-aarch64: harness aarch64
	$(BENCH) --machine aarch64 verify --programs fannkuch --check output,edges,blocks --opt $(AARCH64_OPT) --stage early,inlined,late
	$(BENCH) --machine aarch64 verify --programs fannkuch,exceptions --check contexts --opt 2 --llvm 22 --stage late
	$(BENCH) --machine aarch64 osr csmith --passes '$(OSR_PASSES)' --seeds $(AARCH64_SEEDS)
	scripts/arming-aarch64.sh $(LIB) $(AARCH64) $(BOTH)
	scripts/times-aarch64.sh target/release/midflight $(AARCH64)/lib/midflight $(BOTH)
ifneq ($(AARCH64_WHOLE),)
	$(BENCH) --machine aarch64 verify --programs fannkuch --check edges,blocks --opt 2 --k 1 --stage early,inlined,late
	$(BENCH) --machine aarch64 verify --programs bzip2 --check edges --opt 2 --llvm 22 --stage early
	$(BENCH) --machine aarch64 osr stack --transitions 100000
	$(BENCH) --machine aarch64 osr csmith --seeds $(AARCH64_SEEDS)
	MIDFLIGHT_TEST_AARCH64=$(CURDIR)/$(AARCH64)/lib/midflight $(CARGO) test --no-fail-fast -p midflight-runtime \
		$(AARCH64_TESTS:%=--test %) --target-dir target -- $(AARCH64_SKIPPED:%=--skip %)
endif
else
check-aarch64:
	@echo "check-aarch64: left out: programs for AArch64 are run in QEMU on x86-64 only"
endif

# The programs of compilers' test suites.
check-suites: harness
	$(BENCH) suite

# Nothing changed that a user sees since another revision, on two cores in an hour: for changes of the
# structure. FINGERPRINT narrows it: '--programs bzip2,lua --llvm 22 --what ir'.
FINGERPRINT ?=
check-same: harness build-both
	@scripts/same.sh $(BENCH) $(BEFORE) $(FINGERPRINT)

# Every level, stage and LLVM, with both checks.
check-matrix: harness
	$(BENCH) verify --programs all --check output,edges --stage early,inlined,late

nightly: need-test
	@$(NEED) $(PROJECT_PACKAGES)
	@PROPTEST_CASES=10000 MIDFLIGHT_SOAK_SECONDS=600 scripts/checks.sh $(MAKE) lint build-both \
		check-rust check-examples check-miri check-lit check-osr check-open check-maps check-matrix check-corpus check-documentation check-builds check-random \
		check-aarch64 check-suites check-bare \
		SEEDS=0..4000 REPLAYED=light,sqlite,quickjs ALGORITHMS=light ENTRIES=light,sqlite,quickjs,miniperl,exceptions PROJECTS=all \
		EDGES=light COVERED=light UNWOUND=light OSR_SEEDS=0..4000 OPEN_SEEDS=0..3000 OSR_TRANSITIONS=1000000000 OSR_FUZZ=--all \
		OSR_OPT_SEEDS=0..4000 OSR_SMALL_SEEDS=0..4000 OSR_WOVEN= OSR_DEOPT= OSR_OPT_FUZZ=--all OSR_OTHER_FUZZ=--all OSR_FUZZED=OSR_ALL OSR_RANDOM=OSR_ALL AARCH64_OPT=0,2 AARCH64_SEEDS=0..20 \
		RUST_LLVMS=22,19 RUST_IGNORED=--include-ignored LIT_NEWER= LIT_OLDER= OLDER_PROGRAMS=light CONTEXT_LLVMS=22,19 BURST_OPT=0,2 AARCH64_WHOLE=1 \
		EXAMPLE=llvm22-1,llvm19-1-prefer-dynamic LIT=22:0,22:2,19:0,19:2 OUTPUT_OPT=0,1,2,3 BLOCKS_OPT=0,2
