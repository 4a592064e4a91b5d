// SPDX-License-Identifier: MIT OR GPL-2.0

// As freed.c, with Go's runtime, which then frees with MADV_FREE:
//
//	CGO_CFLAGS=-I$PWD/guest/include go build -ldflags '-linkmode external -extldflags -static' \
//		-o freed-go guest/examples/freed.go
package main

// #include <sys/mman.h>
// #include "quire.h"
// static void start(void) { quire_start(); }
// static void stop(void) { quire_stop(); }
// static void count(const char *name, unsigned long kib) { quire_counter(name, 0, kib); }
// static void wrong(void) { quire_fail("a block has wrong data"); }
// static void page_out(unsigned long at, unsigned long len)
// { madvise((void *)at, len, MADV_PAGEOUT); }
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const total = 32 << 20

var state, most, kept, again uint64 = 1, 8192, 10, 5

func next() uint64 {
	state = state*6364136223846793005 + 1442695040888963407
	return state >> 33
}

func word(seed, at uint64) uint64 {
	mixed := (seed + at) * 0x9e3779b97f4a7c15
	mixed = (mixed ^ mixed>>29) * 0xbf58476d1ce4e5b9
	return mixed ^ mixed>>32
}

type block struct {
	words []uint64
	seed  uint64
}

func allocate() block {
	b := block{make([]uint64, (512+next()%(most-512))/8), next()}
	for at := range b.words {
		b.words[at] = word(b.seed, uint64(at))
	}
	return b
}

// The lines of a file of /proc, by way of f.
func lines(path string, f func(string)) {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		f(scanner.Text())
	}
}

func rollup(name string) (kib uint64) {
	lines("/proc/self/smaps_rollup", func(line string) {
		if strings.HasPrefix(line, name) {
			fmt.Sscan(line[len(name):], &kib)
		}
	})
	return kib
}

func count(name string, kib uint64) { C.count(C.CString(name), C.ulong(kib)) }

func main() {
	for _, word := range os.Args[1:] {
		fmt.Sscanf(word, "most=%d", &most)
		fmt.Sscanf(word, "kept=%d", &kept)
		fmt.Sscanf(word, "again=%d", &again)
	}
	if os.Getenv("GODEBUG") == "" {
		syscall.Exec("/proc/self/exe", os.Args, []string{"GODEBUG=madvdontneed=0"})
	}
	blocks := []block{}
	for size := 0; size < total; size += 8 * len(blocks[len(blocks)-1].words) {
		blocks = append(blocks, allocate())
	}
	for at := range blocks {
		if next()%100 >= kept {
			blocks[at].words = nil
		}
	}
	debug.FreeOSMemory()
	time.Sleep(200 * time.Millisecond)
	lazyfree := rollup("LazyFree:")
	for at := range blocks {
		if blocks[at].words == nil && next()%100 < again {
			blocks[at] = allocate()
		}
	}
	ranges := [][2]uint64{}
	lines("/proc/self/maps", func(line string) {
		var from, to uint64
		var access, offset, device, inode string
		n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s", &from, &to, &access, &offset, &device, &inode)
		if n == 6 && access[1] == 'w' && inode == "0" && !strings.Contains(line, "stack") {
			ranges = append(ranges, [2]uint64{from, to})
		}
	})
	C.start()
	for call := 0; call < 2; call++ {
		for _, r := range ranges {
			C.page_out(C.ulong(r[0]), C.ulong(r[1]-r[0]))
		}
	}
	C.stop()
	count("lazyfree_kib", lazyfree)
	count("swapped_kib", rollup("Swap:"))
	count("present_kib", rollup("Anonymous:"))
	used := 0
	for _, b := range blocks {
		used += 8 * len(b.words)
		for at := range b.words {
			if b.words[at] != word(b.seed, uint64(at)) {
				C.wrong()
			}
		}
	}
	count("in_use_kib", uint64(used/1024))
	fmt.Printf("quire: pages %d\n", total/4096)
}
