// The goroutine column of benchmarks/fiber_switch: N goroutines on one thread that yield to each
// other. Prints a line of JSON for each N.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

func residentBytes() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return float64(pages * os.Getpagesize())
}

func summary(name string, ns []float64) string {
	sort.Float64s(ns)
	return fmt.Sprintf(`"%s":{"median":%.2f,"least":%.2f}`, name, ns[len(ns)/2], ns[0])
}

var ends bool
var running int

func loop() {
	running++
	for !ends {
		runtime.Gosched()
	}
	running--
}

func start(count int) {
	ends = false
	for i := 0; i < count; i++ {
		go loop()
	}
	for running < count {
		runtime.Gosched()
	}
}

func end() {
	ends = true
	for running > 0 {
		runtime.Gosched()
	}
}

// What this process has used of the CPU, in nanoseconds.
func cpu() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

func since(begin float64, items int) float64 {
	return (cpu() - begin) / float64(items)
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	for _, count := range []int{1, 1000, 30000} {
		before := residentBytes()
		begin := cpu()
		start(count)
		first := []float64{since(begin, count)}
		resident := (residentBytes() - before) / float64(count)
		var switches, creations []float64
		passes := max(1000000/count, 1)
		for round := 0; round < 7; round++ {
			begin = cpu()
			for pass := 0; pass < passes; pass++ {
				runtime.Gosched()
			}
			switches = append(switches, since(begin, count*passes))
		}
		end()
		for round := 0; round < 14; round++ {
			begin = cpu()
			start(count)
			creations = append(creations, since(begin, count))
			end()
		}
		fmt.Printf(`{"peer":"goroutine","count":%d,"stack_bytes":0,%s,%s,%s,"resident_bytes":%.0f}`+"\n",
			count, summary("switch", switches), summary("create", creations), summary("first", first),
			max(resident, 0))
	}
}
