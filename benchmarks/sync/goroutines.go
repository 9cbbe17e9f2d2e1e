// The work of sennit/runtime/sync/sync_perf.cpp between goroutines: nanoseconds for each round trip
// of a message, and for each mutex that changes hands.
//
//	go run benchmarks/sync/goroutines.go
//
// "one thread" is GOMAXPROCS(1); "two threads" binds each goroutine to a thread of its own, as two
// workers are, since the scheduler would otherwise put both on one.
package main

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"time"
)

const rounds = 200_000

// The median of a few runs.
func measure(name string, items int, run func()) {
	var all []float64
	for i := 0; i < 7; i++ {
		begin := time.Now()
		run()
		all = append(all, float64(time.Since(begin).Nanoseconds())/float64(items))
	}
	sort.Float64s(all)
	fmt.Printf("%-40s %8.1f ns\n", name, all[len(all)/2])
}

func both(locked bool, first, second func()) {
	var done sync.WaitGroup
	done.Add(2)
	for _, half := range []func(){first, second} {
		go func() {
			if locked {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			half()
			done.Done()
		}()
	}
	done.Wait()
}

func roundTrip(capacity int, locked bool, items int) func() {
	return func() {
		there, back := make(chan int, capacity), make(chan int, capacity)
		both(locked,
			func() {
				for i := 0; i < items; i++ {
					there <- i
					<-back
				}
			},
			func() {
				for i := 0; i < items; i++ {
					<-there
					back <- i
				}
			})
	}
}

func oneWay(items int) func() {
	return func() {
		channel := make(chan int, 256)
		both(true,
			func() {
				for i := 0; i < items; i++ {
					channel <- i
				}
			},
			func() {
				for i := 0; i < items; i++ {
					<-channel
				}
			})
	}
}

func main() {
	var mutex sync.Mutex
	runtime.GOMAXPROCS(1)
	measure("lock and unlock", rounds, func() {
		for i := 0; i < rounds; i++ {
			mutex.Lock()
			mutex.Unlock()
		}
	})
	half := func() {
		for i := 0; i < rounds; i++ {
			mutex.Lock()
			runtime.Gosched() // Lets the other queue up: the lock is not handed over otherwise.
			mutex.Unlock()
		}
	}
	measure("mutex hand-over, one thread", 2*rounds, func() { both(false, half, half) })
	measure("channel round trip, one thread", rounds, roundTrip(0, false, rounds))
	measure("buffered round trip, one thread", rounds, roundTrip(1, false, rounds))
	runtime.GOMAXPROCS(2)
	measure("channel round trip, two threads", rounds/10, roundTrip(0, true, rounds/10))
	measure("channel one way, two threads", rounds, oneWay(rounds))
}
