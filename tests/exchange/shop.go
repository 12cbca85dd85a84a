// A shop that keeps what it sells.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var shelf [][]byte

//go:noinline
func makeBill(n int) []byte { return make([]byte, n) }

//go:noinline
func keep(n int) { shelf = append(shelf, makeBill(n)) }

//go:noinline
func lose(n int) int { return len(makeBill(n)) }

func write(name string, debug int) {
	f, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	if err := pprof.Lookup("heap").WriteTo(f, debug); err != nil {
		panic(err)
	}
	f.Close()
}

func main() {
	runtime.MemProfileRate = 1
	shelf = make([][]byte, 0, 1000)
	for i := 0; i < 100; i++ {
		keep(1024)
		lose(4096)
	}
	runtime.GC()
	runtime.GC()
	write(os.Args[1], 0)
	write(os.Args[2], 1)
}
