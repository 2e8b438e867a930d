# From a model to a told story:
#
#   make                          talk to the storyteller that comes with SSNAIL (make chat)
#   make foo.chat                 foo.gguf becomes foo.ssnail, then you talk to it
#   make foo.72mb.chat            the same for a board with 72 MB (or foo.64mb.chat, foo.8mb.chat)
#   make foo.run PROMPT="Lily"    what the model makes of a text
#   make foo.ssnail               the image alone (foo.8mb.ssnail, foo.64mb.ssnail, foo.72mb.ssnail)
#   make foo.all                  images for all three sizes
#   make foo.info                 what is in foo.gguf, and the memory that it needs
#   make foo.tokcheck             whether the image splits text into tokens as the model does
#   make findmodels QUERY=tiny    what there is to fetch
#   make fetch URL=owner/name     downloads a model
#   make prg                      the program for the MEGA65: build/SSNAIL.PRG; TOOLCHAIN=rust-mos: with that compiler
#   make disk                     the same on a disk with the storyteller: build/SSNAIL.D81
#   make card                     an SD card image with the storyteller: build/CARD.IMG
#   make native                   disk and card in the emulated MEGA65, in this terminal; CORE=off: without the core
#   make xemu                     the same in Xemu, in a window; ROM=/path/MEGA65.ROM starts from the disk
#   make xemu-test                plays the program's scenarios here, and in Xemu where there is one (ONLY=part of a name)
#   make toolchain                the compiler that prg needs: found, or fetched into ~/.cache/ssnail
#   make m65-demo                 a small program for the emulated MEGA65: build/DEMO.PRG
#   make clean                    removes the images of this folder, not the models
#   make test, make bench, make bench-criterion     for developers
#   make test-32, make miri       tests with 32-bit addresses, and under Miri, for developers too
#   make help                     this text
#
# Works from any folder: make -f /where/ssnail/is/Makefile foo.chat
# An image is made again when its model or the converter has changed, or a variable is given that it was not made with
# (that stands in foo.ssnail.options).
# All the work is done by the ssnail command; this file only names it.

# ---- variables (make foo.chat TEMP=0.5) ----
# WTYPE           weight format: auto keep mixed f32 f16 bf16 q8_0 q4_0
# FALLBACK        format for weights that the accelerator cannot read as they are
# ATTICRAM        memory in MB for foo.ssnail (HYPERRAM_MB is its old name)
# CONTEXT_WINDOW  context in tokens
# KV              format of the caches: f16 f32
# TYPE            what the model is for, recorded in the description
# PROMPT TOKENS   for foo.run
# TEMP SEED       for foo.run and foo.chat; TEMP=0 always takes the likeliest token
# HW              not empty: compute as the hardware does, bit for bit
# TEXT            file for foo.tokcheck
# TOOLCHAIN       for prg: rv45, or rust-mos where it is installed
# QUERY MEM       for findmodels;  URL for fetch (an address, or OWNER/NAME)
WTYPE ?= auto
FALLBACK ?= q8_0
ATTICRAM ?= $(or $(HYPERRAM_MB),8)
CONTEXT_WINDOW ?=
KV ?=
TYPE ?=
PROMPT ?= Once upon a time
TOKENS ?= 120
TEMP ?=
SEED ?=
HW ?=
TEXT ?=
QUERY ?=
MEM ?=
URL ?=
CARGO ?= cargo
TOOLCHAIN ?= rv45

# Texts go through the environment: no quoting, whatever is in them. A prompt keeps its $.
override PROMPT := $(value PROMPT)
export PROMPT TYPE QUERY MEM URL TEXT TOKENS TEMP SEED

# What stands between quotes in a command, whatever it is.
quoted = $(subst ','\'',$1)

# Where this file lies. Make separates a list of files by spaces: a path with spaces is the whole list.
ifeq ($(origin SSNAIL_TOOLS),undefined)
SSNAIL_TOOLS := $(shell list="$$(printf %s '$(call quoted,$(MAKEFILE_LIST))' | sed 's/^ *//')"; \
	test -f "$$list" || list='$(call quoted,$(lastword $(MAKEFILE_LIST)))'; cd "$$(dirname "$$list")" && pwd)
endif
ROOT := $(shell cd '$(call quoted,$(SSNAIL_TOOLS))' && pwd)
MANIFEST := $(ROOT)/Cargo.toml
BUILD := $(ROOT)/build
# A path as a target or a prerequisite.
empty :=
space := $(empty) $(empty)
name = $(subst $(space),\$(space),$1)

# SSNAIL=/path/to/ssnail uses a program that is there already.
ifeq ($(origin SSNAIL),undefined)
SSNAIL := $(or $(CARGO_TARGET_DIR),$(ROOT)/target)/release/ssnail
# Cargo decides whether anything is to be done; if not, the file keeps its time and no image is made anew.
$(call name,$(SSNAIL)): FORCE
	@test -x "$@" || echo "building ssnail, which takes some minutes the first time" >&2
	@$(CARGO) build --quiet --release --manifest-path "$(MANIFEST)" --package ssnail-cli
endif

# As a prerequisite of a pattern a name with spaces is only found by its shape, and only if it is there.
TOOL := $(subst $(space),?,$(SSNAIL))
ifneq ($(TOOL),$(SSNAIL))
$(shell test -x '$(call quoted,$(SSNAIL))' || $(CARGO) build --quiet --release --manifest-path '$(call quoted,$(MANIFEST))' --package ssnail-cli >&2)
endif

# What an image was made with stands beside it: a variable that is given and differs makes the image anew. An image
# without that was not made here, and is left alone.
SHAPING := WTYPE FALLBACK CONTEXT_WINDOW KV TYPE ATTICRAM
SIZED := $(filter-out ATTICRAM,$(SHAPING))
given = $(if $($1),$(filter-out undefined file,$(origin $1) $(if $(filter ATTICRAM,$1),$(origin HYPERRAM_MB))))
MADE_WITH = $(shell cat '$1.options' 2>/dev/null)
differs = $(if $(MADE_WITH),$(if $(findstring $2=[$($2)],$(MADE_WITH)),,$2))
stale = $(if $(strip $(foreach v,$2,$(if $(call given,$v),$(call differs,$1,$v)))),FORCE)
# $1 is the memory in MB.
CONVERT = "$(SSNAIL)" convert "$<" -o "$@" --wtype '$(call quoted,$(WTYPE))' \
	--fallback '$(call quoted,$(FALLBACK))' --mem-mb '$(call quoted,$1)' \
	$(if $(CONTEXT_WINDOW),--ctx '$(call quoted,$(CONTEXT_WINDOW))') $(if $(KV),--kv '$(call quoted,$(KV))') $(if $(TYPE),--type "$$TYPE")
CONVERTED = @printf '%s\n' '$(call quoted,$(foreach v,$(SIZED),$v=[$($v)]) ATTICRAM=[$1])' >"$@.options"
SAMPLING = $(if $(filter 0 0.0,$(TEMP)),--temp 0,$(if $(TEMP),--temp="$$TEMP")) \
	$(if $(SEED),--seed="$$SEED") $(if $(HW),--numerics hardware)

.DELETE_ON_ERROR:
# Images that a chat or run needed are kept.
.SECONDARY:
.PHONY: chat run help findmodels fetch prg disk card native xemu xemu-test toolchain m65-demo test test-32 miri bench bench-criterion clean FORCE
.DEFAULT_GOAL := chat

help:
	@sed -n '/^[^#]/q; s/^# \{0,1\}//p' "$(ROOT)/Makefile"

# ---- images: made again when model, converter or a variable has changed ----
.SECONDEXPANSION:
%.ssnail: %.gguf $(TOOL) $$(call stale,$$@,$(SHAPING))
	$(call CONVERT,$(ATTICRAM))
	$(call CONVERTED,$(ATTICRAM))

%.8mb.ssnail: %.gguf $(TOOL) $$(call stale,$$@,$(SIZED))
	$(call CONVERT,8)
	$(call CONVERTED,8)

%.64mb.ssnail: %.gguf $(TOOL) $$(call stale,$$@,$(SIZED))
	$(call CONVERT,64)
	$(call CONVERTED,64)

%.72mb.ssnail: %.gguf $(TOOL) $$(call stale,$$@,$(SIZED))
	$(call CONVERT,72)
	$(call CONVERTED,72)

# All three sizes; one that does not fit is no reason to stop.
%.all: %.gguf FORCE
	-@$(MAKE) --no-print-directory -f "$(ROOT)/Makefile" "$*.8mb.ssnail"
	-@$(MAKE) --no-print-directory -f "$(ROOT)/Makefile" "$*.64mb.ssnail"
	-@$(MAKE) --no-print-directory -f "$(ROOT)/Makefile" "$*.72mb.ssnail"

# ---- using them ----
# The storyteller's stories have up to 200 tokens: room for a whole one, unless told otherwise.
chat run: TOKENS := $(if $(filter file,$(origin TOKENS)),250,$(TOKENS))

chat: $(TOOL)
	@"$(SSNAIL)" chat -n "$$TOKENS" $(SAMPLING)

run: $(TOOL)
	@"$(SSNAIL)" run --prompt "$$PROMPT" -n "$$TOKENS" $(SAMPLING)

%.run: %.ssnail FORCE
	@"$(SSNAIL)" run "$<" --prompt "$$PROMPT" -n "$$TOKENS" $(SAMPLING)

%.chat: %.ssnail FORCE
	@"$(SSNAIL)" chat "$<" -n "$$TOKENS" $(SAMPLING)

%.tokcheck: %.ssnail %.gguf FORCE
	@"$(SSNAIL)" tokcheck "$*.ssnail" "$*.gguf" $(if $(TEXT),"$$TEXT")

%.info: %.gguf $(TOOL) FORCE
	@"$(SSNAIL)" info "$<"

%.info: %.ssnail FORCE
	@"$(SSNAIL)" info "$<"

# ---- finding models ----
findmodels: $(TOOL)
	@set -f; "$(SSNAIL)" findmodels $(if $(MEM),--mem "$$MEM") -- $$QUERY

fetch: $(TOOL)
	@$(if $(URL),"$(SSNAIL)" fetch "$$URL",echo "make fetch URL=https://... or URL=OWNER/NAME" >&2; exit 2)

# ---- for developers ----
prg:
	@CARGO="$(CARGO)" TOOLCHAIN="$(TOOLCHAIN)" sh "$(ROOT)/mega65/build.sh"

# The storyteller as the MEGA65 loads it.
$(call name,$(BUILD)/STORY.SSN): $(call name,$(ROOT)/models/storyteller.gguf) $(TOOL)
	@mkdir -p "$(BUILD)"
	@"$(SSNAIL)" convert "$<" -o "$@" --wtype q8_0 --type Story

# A disk with the program and the storyteller, and a card with the storyteller.
disk: prg $(call name,$(BUILD)/STORY.SSN)
	@"$(SSNAIL)" disk demo "$(BUILD)/SSNAIL.D81" --force --prg "$(BUILD)/SSNAIL.PRG" \
		--overlay "$(BUILD)/SSNAIL.CPU" --readme "$(ROOT)/mega65/README.txt" --model "$(BUILD)/STORY.SSN"

card: prg $(call name,$(BUILD)/STORY.SSN)
	@"$(SSNAIL)" card create "$(BUILD)/CARD.IMG" --force --size 64M "$(BUILD)/SSNAIL.CPU=/SSNAIL/SSNAIL.CPU" \
		"$(BUILD)/STORY.SSN=/SSNAIL/STORY.SSN" "$(ROOT)/mega65/CONFIG.TXT=/SSNAIL/CONFIG.TXT"

# The disk and the card in the emulated MEGA65, in this terminal; without the core with CORE=off.
native: disk card
	@"$(SSNAIL)" m65 "$(BUILD)/SSNAIL.D81" --card "$(BUILD)/CARD.IMG" $(if $(filter off,$(CORE)),--no-accelerator)

# XMEGA65 names the emulator, else the search path is asked.
xemu: disk card
	@ROM="$(ROM)" $(CARGO) run --quiet --release --manifest-path "$(MANIFEST)" --package ssnail-xemu-tests --bin xemu -- \
		$(BUILD)/SSNAIL.PRG $(BUILD)/SSNAIL.D81 $(BUILD)/CARD.IMG

xemu-test: prg
	@$(CARGO) run --quiet --release --manifest-path "$(MANIFEST)" --package ssnail-xemu-tests --bin xemu-test -- "$(ONLY)"

toolchain:
	@sh "$(ROOT)/host/rv45/toolchain.sh"

m65-demo:
	@CARGO="$(CARGO)" sh "$(ROOT)/host/m65/demo/build.sh"

test:
	$(CARGO) test --manifest-path "$(MANIFEST)" --workspace --no-fail-fast -- --show-output

# Status 3 of the two: not here, which they have said.
test-32:
	@CARGO="$(CARGO)" sh "$(ROOT)/shared/test-32.sh" || test $$? = 3

miri:
	@CARGO="$(CARGO)" sh "$(ROOT)/shared/miri.sh" || test $$? = 3

# Beside llama.cpp, about ten minutes; ROUNDS=2 is quicker, UPDATE=1 renews docs/performance.md.
bench:
	@CARGO="$(CARGO)" sh "$(ROOT)/bench/run.sh"

# Kernels and crates, each on its own.
bench-criterion:
	$(CARGO) bench --manifest-path "$(MANIFEST)" --workspace

clean:
	rm -f *.ssnail *.ssnail.options

FORCE:

# What nothing above makes is most often a model that is not there.
.DEFAULT:
	@name='$(call quoted,$@)'; stem=$${name##*/}; test -e "$$name" || { \
		echo "Nothing makes $$name: is there a $${stem%%.*}.gguf in its folder?" \
		'$(if $(findstring $(space),$@),Make takes no names with spaces; ssnail does. )make help shows what can be' \
		'made, make findmodels and make fetch bring models home.' >&2; exit 2; }
