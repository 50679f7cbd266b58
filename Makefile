# make demo | test | test-all | test-nightly | test-versions | tables | mutants | soak | soak-jpeg | soak-slide | coverage-jpeg | fuzz | cuda-all |
# bench | bench-history | gpu | docs | wheel | check-wheel | test-wheel | test-wheel-suite | test-wheel-foreign |
# test-neon | cross | lint | format | clean. Each target but gpu installs what it needs, once.
# `test` takes minutes, `test-all` has every instruction set, the sanitizers and all random cases, and `test-nightly` ten
# times as many, other packages and other versions.
# `tables` writes the operands and answers of the native tests anew, and `mutants` changes formulas to see those tests
# fail; it builds with FASTAUG_SIMD=OFF, the scalar kernels alone, which takes little time.
#
#   N=100000 FIRST=0         make soak: how many random cases of everything are run, and the first's number
#   REGIONS=.. MUTATIONS=..  make soak-jpeg: how many regions and changed files libjpeg is compared on
#   MINUTES=30 FIRST=0       make soak-loader: how long random epochs of the DataLoader are run, and the first's number
#   MINUTES=20 FIRST=0       make soak-slide: how long random regions of slides are read, and the first's number
#   TARGET=png SECONDS=600   make fuzz: one target (jpeg, png, webp, sniff, program) and how long it runs (default: each, 3600)
#   TIER=all                 make test-python, test-native: the tier whose tests run (fast, all, nightly; default: all)
#   FASTAUG_SCALE=3          the same: how many random cases are run, in times what `make test-all` runs
#   ARGS="-k resize"         make test-python: further arguments of pytest; make bench: of python -m bench, such as
#                            tensors, samples, operations or loading, other suites; make mutants: those whose name
#                            holds it
#   PYTHON=python3.12        the interpreter of .venv (default: the first python3 >= 3.10)
#   IMAGES=DIR               make demo: your own images instead of scikit-image's
#   ARCHS=75,90              make cuda-all: the GPUs whose kernels are compiled (default: all that NVRTC knows)
#   ARGS=tests/engines/..    make test-engines: Ray, Lightning and others with the examples of docs/engines.md
#   ARGS="-k timm"           make test-clients: timm, open_clip and others whose transforms are compiled; bench-clients;
#                            DINOV3=DIR: a checkout of DINOv3, whose crops are compared too
#   RELEASES="5.0.0 newest"  make test-transformers: releases whose image processors are compared (default: 4.57.6 too)
#   ARGS="-k torchstain"     make test-pathology: torchstain and others whose stains are compared; CLAM=DIR: a checkout
#                            of CLAM, whose tests of tiles are compared too
#   ARGS="--only oldest"     make test-versions: of oldest, 2.11, newest; --delete: no environment is kept
#   WHEEL=dist/..cp311..whl  make test-versions: the wheel (default: the newest in dist for .venv's Python)
#   BASE=HEAD~1 HEAD=HEAD    make bench-history: the commits whose speed is compared
#   PEERS=1                  make bench: further libraries beside torchvision, in an environment of their own
#   PYTHON=python3.12        make gpu: an interpreter that has PyTorch with CUDA (default: python3)
#   WHEEL=dist/..cp312..whl  make gpu: fastaug of that wheel, unpacked; ARGS="--minutes 5": arguments of bench.cuda
#   PYTHONS="python3.10 .."  make wheel: interpreters to build for (default: every 3.10-3.14 and 3.14t found);
#                            MACHINES="x86_64 aarch64": kinds of machine (default: this one's); SOURCES=DIR: where archives of libraries lie
#   WHEEL=dist/..whl         make test-wheel, test-wheel-suite, test-wheel-foreign: what is tried (default: those of dist/)
#   SYSTEMS="macos-arm64"    make cross: for which systems it is compiled

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# pip and CMake use the cores; two of them in one .venv or build directory would collide.
.NOTPARALLEL:

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
JOBS := $(shell nproc 2>/dev/null || echo 2)
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
CMAKE := env PATH="$(CURDIR)/$(BIN):$$PATH" cmake
CTEST := env PATH="$(CURDIR)/$(BIN):$$PATH" ctest

SYSTEM_PACKAGES := g++ libhwy-dev libjpeg-dev libdeflate-dev libwebp-dev
BUILD_PACKAGES := $(SYSTEM_PACKAGES) ccache
# Only where no other usable Python is found.
PYTHON_PACKAGES := python3 python3-venv
TEST_PACKAGES := $(BUILD_PACKAGES) doctest-dev
HISTORY_PACKAGES := $(SYSTEM_PACKAGES) valgrind
# Pillow-SIMD is compiled where it is installed.
PEER_PACKAGES := libjpeg-dev zlib1g-dev

# A checkout in another directory finds the same objects.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := true

NATIVE := $(shell find csrc cmake -type f 2>/dev/null) CMakeLists.txt CMakePresets.json
CPP := $(shell find csrc -name '*.h' -o -name '*.cpp' -o -name '*.cc' -o -name '*.cu' 2>/dev/null)

.PHONY: help
help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

# Installation

.PHONY: system system-test system-peers
system:
	@tools/system_packages.sh $(BUILD_PACKAGES)
system-test:
	@tools/system_packages.sh $(TEST_PACKAGES)
system-peers:
	@tools/system_packages.sh $(PEER_PACKAGES)

# An environment that works is kept. One that came with a moved or copied directory, or lost its Python, is made anew.
$(STAMPS)/venv:
	@tools/find_python.sh $(PYTHON) >/dev/null || tools/system_packages.sh $(PYTHON_PACKAGES)
	@prefix=$$($(BIN)/python -c 'import pip, sys; print(sys.prefix)' 2>/dev/null || true); \
	if [[ $$prefix != "$(CURDIR)/$(VENV)" ]]; then \
	  python=$$(tools/find_python.sh $(PYTHON)); "$$python" -m venv --clear $(VENV); \
	fi
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/build-tools: constraints.txt pyproject.toml | $(STAMPS)/venv
	$(INSTALL) scikit-build-core pybind11 cmake ninja
	touch $@

# fastaug itself, editable: Python files are read from the checkout, the extension is rebuilt when its sources change.
$(STAMPS)/demo: $(NATIVE) constraints.txt pyproject.toml $(STAMPS)/build-tools | system
	$(INSTALL) --no-build-isolation --editable ".[demo]" \
	  --config-settings=build-dir=build/editable --config-settings=cmake.define.FASTAUG_WERROR=ON
	touch $@

# Types of the extension, which wheels carry too.
fastaug/_C.pyi: $(STAMPS)/demo
	$(INSTALL) pybind11-stubgen
	$(BIN)/python -m pybind11_stubgen fastaug._C --output-dir .

$(STAMPS)/test: $(STAMPS)/demo fastaug/_C.pyi
	$(INSTALL) $(call requirements,test lint)
	touch $@

$(STAMPS)/bench: $(STAMPS)/demo
	$(INSTALL) $(call requirements,bench)
	touch $@

$(STAMPS)/docs: $(STAMPS)/demo
	$(INSTALL) $(call requirements,docs)
	touch $@

# The requirements of extras of pyproject.toml, quoted for the shell.
requirements = $$($(BIN)/python tools/requirements.py $(1))

# Demo

.PHONY: demo
demo: $(STAMPS)/demo
	$(BIN)/python -m fastaug demo $(if $(IMAGES),--images "$(IMAGES)")

# Tests

# A tier is a choice of tests by their marks (pyproject.toml) and of how many random cases they run
# (tests/support/scale.py, csrc/tests/support/scale.h). Equality is asserted in each. What has no mark is in all three.
TIER := all
test: TIER := fast
test-nightly: TIER := nightly
MARKS_fast := not main and not nightly
MARKS_all := not nightly
MARKS_nightly :=
SCALE_fast := 0.1
SCALE_all := 1
SCALE_nightly := 10
SCALE = $(or $(FASTAUG_SCALE),$(SCALE_$(TIER)))
ifeq ($(filter fast all nightly,$(TIER)),)
$(error TIER is '$(TIER)'; it should be fast, all or nightly)
endif
# Native tests have labels of ctest instead: the best instruction set alone, or each by name.
NATIVE_fast := fast
NATIVE_all := all
NATIVE_nightly := all
# Minutes of random epochs of the DataLoader.
LOADER_all := 2
LOADER_nightly := 30

.PHONY: test test-all test-nightly test-native test-asan test-tsan test-python
test: lint test-native test-python

test-all: lint test-native test-asan test-tsan test-fuzz test-python test-loader test-ray

# `fuzz` runs each target for SECONDS, and `test-versions` needs a wheel.
test-nightly: test-all test-engines test-clients test-transformers test-pathology soak soak-jpeg cuda-all fuzz
	$(MAKE) wheel PYTHONS="$(BIN)/python"
	$(MAKE) test-versions

# The native tests are linked with the core that the extension has.
CORE := build/editable/libfastaug_core.a
DEV := $(CMAKE) --preset dev -D CMAKE_BUILD_TYPE=Release -D FASTAUG_CORE="$(CURDIR)/$(CORE)"

test-native: $(STAMPS)/demo | system-test
	$(DEV)
	$(CMAKE) --build --preset dev -j $(JOBS)
	tools/check_symbols.sh build/editable
	FASTAUG_SCALE=$(SCALE) $(CTEST) --preset dev -j $(JOBS) -L $(NATIVE_$(TIER))

test-asan: $(STAMPS)/build-tools | system-test
	$(CMAKE) --preset asan
	$(CMAKE) --build --preset asan -j $(JOBS)
	$(CTEST) --preset asan -j $(JOBS) -L all

# The tests of threads alone, on the scalar kernels: the others cost minutes to compile.
test-tsan: $(STAMPS)/build-tools | system-test
	$(CMAKE) --preset tsan
	$(CMAKE) --build --preset tsan -j $(JOBS)
	$(CTEST) --preset tsan

# torch's own threads would only fight the test processes for the cores.
test-python: $(STAMPS)/test
	FASTAUG_SCALE=$(SCALE) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p no:benchmark -n $(JOBS) \
	  --dist worksteal $(if $(MARKS_$(TIER)),-m "$(MARKS_$(TIER))") $(ARGS)

# What may differ between Pythons: names, signatures, errors, pickles, and that the installation is sound.
.PHONY: test-api
test-api: $(STAMPS)/test
	$(BIN)/python tests/smoke.py
	$(MAKE) test-python TIER=fast ARGS=tests/api

# The engines of docs/engines.md, in an environment of their own in front of .venv; `make test` runs Ray's part.
ENGINES := .venv-engines
ENGINE_INSTALL := $(ENGINES)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: test-ray test-engines
test-ray: $(ENGINES)/.ray
	$(ENGINES)/bin/python -m pytest -p no:benchmark tests/engines/test_ray.py

test-engines: $(ENGINES)/.engines
	$(ENGINES)/bin/python -m pytest -p no:benchmark tests/engines $(ARGS)

$(ENGINES)/.ray: constraints.txt | $(STAMPS)/test
	$(BIN)/python -m bench.environments $(ENGINES)
	$(ENGINE_INSTALL) "ray[data]" pydantic
	touch $@

$(ENGINES)/.engines: $(ENGINES)/.ray
	$(ENGINE_INSTALL) accelerate datasets lightning litdata spdl webdataset
	touch $@

# The packages whose transforms fastaug reads or takes the place of, and those of programs that are switched, likewise.
# CLIP's needs an old setuptools, and ultralytics an OpenCV with windows.
CLIENTS := .venv-clients
CLIENT_INSTALL := $(CLIENTS)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: test-clients bench-clients
test-clients: $(CLIENTS)/.clients
	OMP_NUM_THREADS=1 $(if $(DINOV3),PYTHONPATH="$(DINOV3)") $(CLIENTS)/bin/python -m pytest -p no:benchmark \
	  tests/clients $(ARGS)

bench-clients: $(CLIENTS)/.clients
	$(CLIENTS)/bin/python -m bench clients $(ARGS)

$(CLIENTS)/.clients: constraints.txt | $(STAMPS)/test
	$(BIN)/python -m bench.environments $(CLIENTS)
	$(CLIENT_INSTALL) timm open_clip_torch lightly transformers datasets webdataset setuptools
	$(CLIENT_INSTALL) accelerate ipykernel jupyter_client matplotlib opencv-python-headless polars psutil ultralytics-thop
	$(CLIENT_INSTALL) --no-deps clip-anytorch ultralytics
	touch $@

# All image processors of releases of transformers, each in an environment of its own, likewise.
RELEASES := 4.57.6 5.0.0 newest
.PHONY: test-transformers
test-transformers: $(RELEASES:%=.venv-transformers-%/.installed)
	for release in $(RELEASES); do \
	  OMP_NUM_THREADS=1 .venv-transformers-$$release/bin/python -m pytest -p no:benchmark \
	    tests/clients/test_processors.py $(ARGS); \
	done

.venv-transformers-%/.installed: | $(STAMPS)/test
	$(BIN)/python -m bench.environments .venv-transformers-$*
	.venv-transformers-$*/bin/python -m pip --disable-pip-version-check install --quiet \
	  $(patsubst transformers==newest,transformers,transformers==$*)
	touch $@

# The packages whose stains fastaug.pathology has, and those that read slides, likewise. tiatoolbox and cuCIM do not
# install everywhere: tests and rows of theirs are left out.
PATHOLOGY := .venv-pathology
.PHONY: test-pathology
test-pathology: $(PATHOLOGY)/.pathology
	OMP_NUM_THREADS=1 $(if $(CLAM),PYTHONPATH="$(CLAM)") $(PATHOLOGY)/bin/python -m pytest -p no:benchmark \
	  tests/pathology tests/codec/test_slide.py tests/codec/test_slide_bags.py $(ARGS)

# tiatoolbox asks for a torch, a Pillow and a NumPy that are older than ours, and cuCIM for half of CUDA: they get what
# they import of stains, masks and slides, and no more. pip says that they are not content.
PATHOLOGY_INSTALL := $(PATHOLOGY)/bin/python -m pip --disable-pip-version-check install --quiet
$(PATHOLOGY)/.pathology: | $(STAMPS)/test
	$(BIN)/python -m bench.environments $(PATHOLOGY)
	$(PATHOLOGY_INSTALL) torchstain albumentationsx opencv-python-headless h5py tifffile imagecodecs openslide-python \
	  openslide-bin
	-$(PATHOLOGY_INSTALL) --no-deps tiatoolbox
	-$(PATHOLOGY_INSTALL) umap-learn matplotlib pandas shapely dask psutil zarr SimpleITK defusedxml universal-pathlib \
	  timm transformers
	-$(PATHOLOGY_INSTALL) --no-deps cucim-cu12
	touch $@

# One wheel with the oldest torch, torchvision and Pillow, some between and the newest that there are, an environment for each in
# .venv-versions, which takes 6 GB; docs/versions.md is written. What the newest change is seen here first.
.PHONY: test-versions
test-versions: $(STAMPS)/venv
	$(BIN)/python tools/versions.py --jobs $(JOBS) $(if $(WHEEL),--wheel "$(WHEEL)") $(ARGS)

# What the native tests read, from the op table of the Python tests.
.PHONY: tables mutants
tables: $(STAMPS)/test
	OMP_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python tests/tables/native.py

# Formulas that are changed on purpose, each of which the native tests must notice.
mutants: $(STAMPS)/build-tools | system-test
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/mutants.py --jobs $(JOBS) $(ARGS)

# Random pipelines against torchvision, native programs under all rewrites, failing and interrupted calls, and what else
# tests/property/soak.py lists, as many as one likes.
.PHONY: soak
soak: $(STAMPS)/test
	OMP_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python tests/property/soak.py $(or $(N),20000) $(or $(FIRST),0)

# The decoder of JPEGs against libjpeg, on regions of sound files and on changed ones, for every instruction set.
.PHONY: soak-jpeg
soak-jpeg: $(STAMPS)/demo | system-test
	$(DEV)
	$(CMAKE) --build --preset dev -j $(JOBS) --target fastaug_tests
	for isa in scalar sse4 avx2 avx512vbmi; do \
	  FASTAUG_ISA=$$isa FASTAUG_JPEG_REGIONS=$(or $(REGIONS),100000) FASTAUG_JPEG_MUTATIONS=$(or $(MUTATIONS),1000000) \
	    build/dev/fastaug_tests --test-case="jpeg sequential*,jpeg progressive*" || [[ $$? == 77 ]]; \
	done

# The lines of the decoder of JPEGs that the native tests run, on all instruction sets together: 95 % of each file.
.PHONY: coverage-jpeg
coverage-jpeg: $(STAMPS)/build-tools | system-test
	$(CMAKE) --preset coverage
	$(CMAKE) --build --preset coverage -j $(JOBS) --target fastaug_tests
	find build/coverage -name '*.gcda' -delete
	for isa in scalar sse4 avx2 avx512vbmi; do \
	  FASTAUG_ISA=$$isa build/coverage/fastaug_tests --test-case="jpeg*,scan index*,codec*" || [[ $$? == 77 ]]; \
	done
	$(BIN)/python tools/coverage.py build/coverage --least 95 \
	  "csrc/codec/jpeg*" "csrc/codec/scan_index*" "csrc/kernels/*jpeg*" csrc/pixel/jpeg.h

# Random epochs of fastaug.data.DataLoader, with forks in the midst of batches.
SOAK_LOADER := OMP_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python tests/property/soak_loader.py
.PHONY: soak-loader test-loader
soak-loader: $(STAMPS)/test
	$(SOAK_LOADER) $(or $(MINUTES),30) $(or $(FIRST),0)

# Two minutes of it, more at night.
test-loader: $(STAMPS)/test
	$(SOAK_LOADER) $(LOADER_$(TIER))

# Random regions of slides, by threads, forked children and pipelines; some slides are broken.
.PHONY: soak-slide
soak-slide: $(STAMPS)/test
	OMP_NUM_THREADS=1 PYTHONPATH=.:tests:tests/codec $(BIN)/python tests/property/soak_slide.py $(or $(MINUTES),20) $(or $(FIRST),0)

# What the kernels of pipelines take on each GPU that NVRTC knows; it needs PyTorch with CUDA, and no GPU. It fails where
# a thread needs memory of its own, beside its registers.
.PHONY: cuda-all
cuda-all: $(STAMPS)/test
	OMP_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python tests/cuda/compile_all.py --jobs $(JOBS) $(if $(ARCHS),--archs $(ARCHS)) $(ARGS)

# Fuzzing

FUZZ_TARGETS := jpeg png webp gif sniff program
FUZZ_CXX := clang++-19
FUZZ_PACKAGES := clang-19 libclang-rt-19-dev

.PHONY: test-fuzz fuzz system-fuzz fuzz-seeds
system-fuzz:
	@tools/system_packages.sh $(FUZZ_PACKAGES)

fuzz-seeds: $(STAMPS)/test
	$(BIN)/python tests/codec/image_files.py build/fuzz/seeds
	@mkdir -p build/fuzz/found

# The seeds of every target and simple mutations of them, the same ones every time, for less than a minute in all on two
# cores. Inputs that break something are kept in build/fuzz/found.
test-fuzz: fuzz-seeds | system-test
	$(CMAKE) --preset asan -D FASTAUG_FUZZ=ON
	$(CMAKE) --build --preset asan -j $(JOBS) --target $(FUZZ_TARGETS:%=fuzz_%)
	printf '%s\n' $(FUZZ_TARGETS) | ASAN_OPTIONS=hard_rss_limit_mb=4096 xargs -P $(JOBS) -I NAME \
	  sh -c 'build/asan/fuzz_NAME --seconds 15 --keep build/fuzz/found build/fuzz/seeds/NAME'

# libFuzzer, which looks for inputs that reach new code and keeps them in build/fuzz/corpus.
fuzz: fuzz-seeds | system-test system-fuzz
	$(CMAKE) -S . -B build/libfuzzer -G Ninja -D CMAKE_CXX_COMPILER=$(FUZZ_CXX) -D CMAKE_BUILD_TYPE=RelWithDebInfo \
	  -D FASTAUG_PYTHON=OFF -D FASTAUG_WERROR=OFF -D FASTAUG_SANITIZE=ON -D FASTAUG_FUZZ=ON
	$(CMAKE) --build build/libfuzzer -j $(JOBS)
	for name in $(or $(TARGET),$(FUZZ_TARGETS)); do \
	  mkdir -p build/fuzz/corpus/$$name; \
	  build/libfuzzer/fuzz_$$name -fork=$(JOBS) -max_total_time=$(or $(SECONDS),3600) -timeout=30 -max_len=65536 \
	    -artifact_prefix=build/fuzz/found/$$name- build/fuzz/corpus/$$name build/fuzz/seeds/$$name; \
	done

# Lint

.PHONY: lint format
lint: $(STAMPS)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/codespell
	$(BIN)/mypy

format: $(STAMPS)/test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

# Benchmarks

# A run of everything also renews the tables and the chart of README.md; of other suites, python -m bench.readme does.
.PHONY: bench bench-history
bench: $(STAMPS)/bench
	$(BIN)/python -m bench $(if $(PEERS),--peers) $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m bench.readme)

# Fails where a row of HEAD takes more than 3 % more processor time or instructions than that of BASE.
bench-history: $(STAMPS)/bench
	@tools/system_packages.sh $(HISTORY_PACKAGES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m bench.history $(or $(BASE),HEAD~1) $(or $(HEAD),HEAD) $(ARGS)

# Checks fastaug on the GPU of this machine, bit by bit, and times it there, in nine minutes. Neither a network nor pip is
# needed: PyTorch is PYTHON's, and fastaug WHEEL's, the checkout's or PYTHON's own. Without a GPU it says so; that is an
# error where FASTAUG_REQUIRE_CUDA is 1.
.PHONY: gpu
gpu:
	tools/run_gpu.sh "$(or $(PYTHON),python3)" "$(WHEEL)" $(ARGS)

# Documentation

# Warnings are errors: a broken link, an unknown name, a public class without a picture.
.PHONY: docs
docs: $(STAMPS)/docs
	rm -rf site
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet -E -d build/doctrees docs site
	$(BIN)/python tools/check_pages.py site
	@echo "Documentation: site/index.html"

# Wheels

# What wheels are built and looked at with, in .venv; nasm assembles libjpeg-turbo's SIMD.
WHEEL_PACKAGES := nasm
FOREIGN_PACKAGES := qemu-user doctest-dev

.PHONY: wheel check-wheel test-wheel test-wheel-suite test-wheel-foreign test-neon cross
$(STAMPS)/wheel: constraints.txt | $(STAMPS)/build-tools
	$(INSTALL) build pyelftools wheel ziglang
	@tools/system_packages.sh $(WHEEL_PACKAGES)
	touch $@

wheel: $(STAMPS)/wheel fastaug/_C.pyi
	PATH="$(CURDIR)/$(BIN):$$PATH" python tools/wheels/build.py $(MACHINES:%=--target %) \
	  $(if $(SOURCES),--sources "$(SOURCES)") $(PYTHONS)

check-wheel: $(STAMPS)/wheel
	$(BIN)/python tools/wheels/check.py dist/*.whl

# Those of this kind of machine, each in an environment of its own with what it depends on and nothing else.
test-wheel: $(STAMPS)/wheel
	$(BIN)/python tools/wheels/trial.py $(WHEEL)

# The whole suite of pytest besides, on the files of the wheel: another compiler made them than the checkout's.
test-wheel-suite: $(STAMPS)/wheel $(STAMPS)/test
	$(BIN)/python tools/wheels/trial.py --suite --pytest "$(ARGS)" $(or $(WHEEL),$(wildcard dist/*-cp311-*_$(shell uname -m).whl))

# A wheel for aarch64, and the native tests compiled for it, under qemu.
test-wheel-foreign: $(STAMPS)/wheel
	@tools/system_packages.sh $(FOREIGN_PACKAGES)
	$(BIN)/python tools/wheels/foreign.py wheel $(WHEEL)
	$(BIN)/python tools/wheels/foreign.py check $(WHEEL)
test-neon: $(STAMPS)/wheel
	@tools/system_packages.sh $(FOREIGN_PACKAGES)
	PATH="$(CURDIR)/$(BIN):$$PATH" python tools/wheels/foreign.py native

# Whether the core compiles for systems that have no wheels yet, and that nobody has run it on.
cross: $(STAMPS)/wheel
	for system in $(or $(SYSTEMS),macos-arm64 windows-amd64); do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" python tools/wheels/build.py --check-only $$system \
	    $(if $(SOURCES),--sources "$(SOURCES)") || exit 1; \
	done

.PHONY: clean
clean:
	rm -rf build dist site docs/reference fastaug/_C.pyi .mypy_cache .pytest_cache .ruff_cache .hypothesis demo.png
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +
	@echo "Kept: .venv (rm -rf .venv removes it, and the next make installs it again)."
