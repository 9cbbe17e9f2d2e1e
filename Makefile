# The commands of this project. CMake and Ninja do the work; CMakePresets.json has the build kinds.
# A command installs the packages it needs and that are missing (see scripts/packages.txt).

JOBS ?= $(shell nproc)
MINUTES ?= 10

# Another clone of the same sources finds what this one compiled.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.DEFAULT_GOAL := help
.PHONY: help build test demo perf test-full test-long format check clean

help: ## Says what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

build: ## Release build: the programs in build/release/bin/
	@scripts/install-packages build perf
	@cmake --preset release --log-level=WARNING -D BUILD_TESTING=OFF
	@cmake --build --preset release -j $(JOBS)

test: ## Builds with the default compiler and runs every test
	@scripts/install-packages build perf test
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev -j $(JOBS) --target all all_verify_interface_header_sets
	@ctest --preset dev -j $(JOBS)

demo: ## Starts the demo service, drives it with load, writes build/demo/report.html
	@scripts/install-packages build
	@cmake --preset release --log-level=WARNING -D BUILD_TESTING=OFF -D SENNIT_PERF=OFF
	@cmake --build --preset release -j $(JOBS) --target hello sennit
	@scripts/demo

perf: build ## Runs the performance tests
	@set -e; for program in build/release/bin/perf_*; do echo "== $$program"; $$program; done

test-full: ## Both compilers, the sanitizers, both backends, fuzz samples, interoperation
	@scripts/install-packages build perf test full
	@scripts/test-full

test-long: ## The long runs: make test-long MINUTES=60
	@scripts/install-packages build perf test full
	@scripts/test-long $(MINUTES)

check: ## The checks alone: layers, tidy, format, headers
	@scripts/install-packages build perf test
	@cmake --preset dev --log-level=WARNING
	@ctest --preset dev -L check

format: ## Formats every C++ file in place
	@scripts/install-packages build perf test
	@tools/check/format.py --write

clean: ## Removes everything that was built
	rm -rf build
