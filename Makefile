# Lakestream: how to build, test and reproduce. `make` alone lists the targets.
#
#   make BUILD=build-clang CC=clang OPT=-O0     a second build beside the first
#   make test BUILD=build-asan SANITIZE=address,undefined
#   V=1 shows whole command lines

BUILD ?= build
OPT ?= -O2
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
FIGURES ?=
ifeq ($(origin CC),default)
CC := gcc
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL)$(findstring -j,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
# Compiler output stays whole; what runs for long keeps its terminal and its progress line.
ifneq ($(filter build core sim backend experiments check-build,$(MAKECMDGOALS)),)
MAKEFLAGS += --output-sync=target
endif
Q := $(if $(V),,@)

# ---- flags -------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Werror
# Messages are cut to their buffers on purpose; gcc finds that suspicious, at some levels.
WARNINGS += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
# No fused or reordered floating point: one seed gives one event hash on every compiler and level.
FLOATS := -ffp-contract=off -fno-fast-math
SANITIZERS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined)
CPPFLAGS_ALL := -I. -I$(BUILD)/include -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 $(OPT) -g $(FLOATS) $(WARNINGS) $(SANITIZERS) -pthread $(CFLAGS)
LDFLAGS_ALL := -pthread $(SANITIZERS) $(LDFLAGS)
ifneq ($(findstring NDEBUG,$(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CC)),)
$(error NDEBUG is not supported: the asserts are part of the program)
endif

PACKAGES_core := libxxhash libzstd
PACKAGES_sim := gsl
PACKAGES_backend := libcurl openssl expat jansson
PACKAGES_experiments := yaml-0.1 sqlite3
PACKAGES := $(PACKAGES_core) $(PACKAGES_sim) $(PACKAGES_backend) $(PACKAGES_experiments)
# Asked for only when something is compiled: before `make deps` there may be no pkg-config.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PACKAGE_CFLAGS)
package_libs = $(if $(strip $1),$(shell pkg-config --libs $1))

# ---- layers ------------------------------------------------------------------------------------

LAYERS := core sim backend experiments
BELOW_core :=
BELOW_sim := core
BELOW_backend := core
BELOW_experiments := backend sim core

# Sources of a folder, with those of its rooms one level down where it has any.
sources = $(sort $(filter-out experiments/main.c,$(wildcard $1/*.c) \
	$(if $(filter experiments,$1),$(wildcard $1/*/*.c))))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)
archive = $(BUILD)/liblakestream-$1.a
archives = $(foreach l,$1 $(BELOW_$1),$(call archive,$l))
packages = $(foreach l,$1 $(BELOW_$1),$(PACKAGES_$l))

PROGRAM := $(BUILD)/lakestream
TEST_LAYERS := $(foreach l,$(LAYERS),$(if $(wildcard tests/$l/*.c),$l))
FUZZ_MAINS := main fuzzer_main seeds
FUZZ_SOURCES := $(filter-out $(FUZZ_MAINS:%=tests/fuzz/%.c),$(wildcard tests/fuzz/*.c)) \
	tests/core/manual_loop.c tests/core/chains.c
TEST_PROGRAMS := $(TEST_LAYERS:%=$(BUILD)/test-%) $(BUILD)/test-fuzz
S3_SOURCES := $(wildcard tests/s3/*.c) tests/backend/fixture.c
TEST_SUPPORT := $(BUILD)/libtest-support.a

# ---- what a person asks for --------------------------------------------------------------------

.PHONY: kills once races chaos help deps deps-servers servers build test reproduce bench install lint format assumed
.PHONY: clean FORCE
.PHONY: fuzz corpus soak build-fuzz-program test-fuzz
.PHONY: model swarm check-build $(LAYERS) $(LAYERS:%=test-%)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z].*:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile
	@printf '  make %-16s %s\n' 'core (sim ...)' 'Compile one layer: $(LAYERS)' \
		'test-core (...)' 'Build and run the tests of one layer'

deps: ## Install the Debian packages that are missing
	@tools/deps.sh

deps-servers: ## The same, and those of the servers that make test starts
	@tools/deps.sh servers

servers: ## Build the test server that no package has, once per user (tests/servers/)
	@tests/servers/versitygw.sh build || true

build: $(PROGRAM) ## Build the program, build/lakestream

test: deps-servers ## Install what is missing, build, run lint and all tests
	@$(MAKE) check-build servers
	@tools/run_tests.sh tools/lint.sh tests/lint/run.sh tests/lint/clang.sh \
		'tests/lint/documented_tests.sh $(BUILD)' \
		'tests/core_symbols.sh $(BUILD)' \
		'tests/fuzz/seeds.sh $(BUILD)' 'tests/fuzz/decoders.sh $(BUILD)' \
		'tests/digest/run.sh $(BUILD)' 'tests/model/run.sh $(BUILD)' \
		'tests/model/planted.sh $(BUILD) 60 life quick resends' 'tests/planted/run.sh $(BUILD)' \
		'tests/planted/swarm.sh $(BUILD)' \
		'tests/live/kills.sh $(PROGRAM) 16' \
		'tests/live/exactly_once.sh $(PROGRAM) 10' 'tests/live/srun.sh $(PROGRAM)' \
		'tests/live/mpirun.sh $(PROGRAM)' \
		'tests/s3/run.sh $(BUILD)' 'tests/s3/chaos.sh $(PROGRAM)' $(TEST_PROGRAMS)

reproduce: deps ## Install what is missing, build, simulate, draw (FIGURES='...' for some)
	@$(MAKE) build
	@$(PROGRAM) reproduce $(FIGURES)

swarm: build ## Run random worlds with faults, under checkers (SEEDS=10000)
	@$(PROGRAM) swarm --seeds $(or $(SEEDS),10000)

model: ## Search small worlds with the core's real machines: to the end, or 10 minutes each
	@tests/model/run.sh $(BUILD) 600 quick pair probe floors resends successor crashes \
		zombies incarnations \
		life takeover numbers rollback overlap former former_rollback \
		newcomer agreed first markers retired pages trim readers undecided orphans two_floors
	@tests/model/planted.sh $(BUILD)

fuzz: ## Fuzz every decoder (SECONDS=30 for each; TARGETS='...' for some)
	@tools/deps.sh soak
	@$(MAKE) build-fuzz-program
	@tools/fuzz.sh build-fuzz/fuzzer $(or $(SECONDS),30) $(TARGETS)

corpus: $(BUILD)/fuzz-seeds ## Write the seeds of the fuzz targets again
	@tests/fuzz/seeds.sh $(BUILD) write

soak: ## Fuzz (SECONDS=600 in all), then tests under sanitizers and valgrind: an hour or more
	@tools/deps.sh soak
	+@tools/soak.sh $(or $(SECONDS),600) $(STAGES)

build-fuzz-program:
	@$(MAKE) BUILD=build-fuzz OPT=-O1 CC=clang SANITIZE=address,undefined,fuzzer-no-link \
		build-fuzz/fuzzer build-fuzz/test-fuzz

kills: build ## Kill 50 live producers at random, with zombies, and look for damage
	@tests/live/kills.sh $(PROGRAM) 50

once: build ## Kill 100 producers, ranks and reclaimers, and hold what each rank got against the order
	@tests/live/exactly_once.sh $(PROGRAM) 100
	@tests/s3/run.sh $(BUILD) once-long

races: build ## Race 32 producers on RGW and VersityGW until each chain has 1,000 versions
	@tests/s3/run.sh $(BUILD) races-long

chaos: build ## Kill gateway and producers, stop them, cut their network, on RGW; then look for damage
	@tests/s3/chaos.sh $(PROGRAM) long

bench: build ## Measure the simulator on one core, manifests, and the S3 client beside libcurl
	@$(PROGRAM) bench sim
	@$(PROGRAM) bench core
	@$(PROGRAM) bench s3

install: build ## Install program, configs and plots below PREFIX (and DESTDIR)
	install -D -m 755 "$(PROGRAM)" "$(DESTDIR)$(PREFIX)/bin/lakestream"
	for d in configs plots; do find $$d -type f | while read -r f; do \
		install -D -m 644 "$$f" "$(DESTDIR)$(PREFIX)/share/lakestream/$$f" || exit 1; \
	done; done

lint: ## Check format, layout, includes, banned calls and the list of assumptions
	@tools/lint.sh

format: ## Rewrite the C files as .clang-format says
	@tools/lint.sh --files | xargs -r clang-format -i

assumed: ## Rewrite the list of assumptions in PAPER_REPRO.md
	@tools/assumed.sh --write

clean: ## Remove this build (BUILD)
	rm -rf $(BUILD)

check-build: $(PROGRAM) $(TEST_PROGRAMS) $(BUILD)/fuzz-seeds $(BUILD)/test-s3 $(BUILD)/model

$(LAYERS): %: $(BUILD)/liblakestream-%.a

export LAKESTREAM := $(PROGRAM)
test-experiments: $(PROGRAM)
$(LAYERS:%=test-%) test-fuzz: test-%: $(BUILD)/test-%
	@$< $(TESTS)

# ---- rules -------------------------------------------------------------------------------------

# write_if_changed, file, text: touches the file only when the text is new.
write_if_changed = mkdir -p $(dir $1); printf '%s\n' $2 | cmp -s - $1 || printf '%s\n' $2 >$1

$(BUILD)/flags: FORCE
	@command -v pkg-config >/dev/null && pkg-config --exists $(PACKAGES) || \
		{ echo 'libraries are missing: run make deps' >&2; exit 1; }
	@$(call write_if_changed,$@,'$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)')

$(BUILD)/sources/%.list: FORCE
	@$(call write_if_changed,$@,'$(call sources,$*)')

# build_info.h: what a row of results says about the build that made it. LAKESTREAM_MODEL is the code
# that decides the numbers: results of other code are not taken for finished.
$(BUILD)/include/build_info.h: FORCE
	@commit=$$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown); \
	model=$$(cat $(sort $(wildcard core/*.[ch] sim/*.[ch] experiments/trials/*.[ch])) | \
		sha256sum | cut -c1-16); \
	$(call write_if_changed,$@,"#define LAKESTREAM_COMMIT \"$$commit\"" \
		"#define LAKESTREAM_MODEL \"$$model\"" \
		'#define LAKESTREAM_COMPILER "$(CC) $(OPT)"' \
		'#define LAKESTREAM_SHARE "$(PREFIX)/share/lakestream"')

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/include/build_info.h
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(PACKAGE_CFLAGS) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

define layer_rules
$(call archive,$1): $(call objects,$(call sources,$1)) $(BUILD)/sources/$1.list
	@echo "  AR    $$@"
	@rm -f $$@
	$$(Q)ar rcs $$@ $$(filter %.o,$$^)

$(BUILD)/test-$1: $(call objects,$(call sources,tests/$1)) $(TEST_SUPPORT) $(call archives,$1) \
		$(BUILD)/sources/tests/$1.list
	@echo "  LD    $$@"
	$$(Q)$(CC) $(LDFLAGS_ALL) $$(filter %.o %.a,$$^) \
		$$(call package_libs,$(call packages,$1) cunit) -lm -o $$@
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rules,$l)))

$(BUILD)/model: $(call objects,$(call sources,tests/model)) $(call archive,core) \
		$(BUILD)/sources/tests/model.list
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(call package_libs,$(PACKAGES_core)) -lm -o $@

$(BUILD)/test-s3: $(call objects,$(S3_SOURCES)) $(TEST_SUPPORT) \
		$(foreach l,backend sim core,$(call archive,$l)) $(BUILD)/sources/tests/s3.list
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) \
		$(call package_libs,$(PACKAGES_core) $(PACKAGES_sim) $(PACKAGES_backend) cunit) -lm -o $@

# fuzz_program, name, source of its main, flags to link: the fuzz targets with one of their mains.
define fuzz_program
$(BUILD)/$1: $(call objects,tests/fuzz/$2.c $(FUZZ_SOURCES)) $(call archives,experiments) \
		$(BUILD)/sources/tests/fuzz.list
	@echo "  LD    $$@"
	$$(Q)$$(CC) $$(LDFLAGS_ALL) $3 $$(filter %.o %.a,$$^) \
		$$(call package_libs,$$(PACKAGES)) -lm -o $$@
endef
$(eval $(call fuzz_program,test-fuzz,main,))
$(eval $(call fuzz_program,fuzz-seeds,seeds,))
$(eval $(call fuzz_program,fuzzer,fuzzer_main,-fsanitize=fuzzer))

SUPPORT_FOLDERS := tests tests/battery tests/hostile
$(TEST_SUPPORT): $(call objects,$(foreach d,$(SUPPORT_FOLDERS),$(call sources,$d))) \
		$(SUPPORT_FOLDERS:%=$(BUILD)/sources/%.list)
	@echo "  AR    $@"
	@rm -f $@
	$(Q)ar rcs $@ $(filter %.o,$^)

$(PROGRAM): $(BUILD)/obj/experiments/main.o $(call archives,experiments)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(call package_libs,$(PACKAGES)) -lm -o $@

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/obj/*/*/*.d $(BUILD)/obj/*/*/*/*.d)
