// SPDX-License-Identifier: Apache-2.0

// The server of go.etcd.io/etcd as a program of its own: upstream's lives in a module that replaces its dependencies by
// folders beside it, which a module cannot require.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
