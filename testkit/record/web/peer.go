// Go's own HTTP, both sides: peer server LOG ADDRESS | peer client BASE
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

var lines = strings.Repeat("A line of a body that is sent in parts.\n", 30)
var changed = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// counted notes the status and how many bytes of a body were written.
type counted struct {
	http.ResponseWriter
	status, bytes int
}

func (c *counted) WriteHeader(status int) {
	if status >= 200 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(body []byte) (int, error) {
	n, err := c.ResponseWriter.Write(body)
	c.bytes += n
	return n, err
}

func answer(out *counted, request *http.Request) {
	switch request.URL.Path {
	case "/file":
		out.Header().Set("ETag", `"lab"`)
		http.ServeContent(out, request, "file.txt", changed, strings.NewReader(lines))
	case "/flushed":
		for from := 0; from < len(lines); from += 400 {
			io.WriteString(out, lines[from:min(from+400, len(lines))])
			out.ResponseWriter.(http.Flusher).Flush()
		}
	case "/gzip":
		out.Header().Set("Content-Encoding", "gzip")
		packer := gzip.NewWriter(out)
		io.WriteString(packer, lines)
		packer.Close()
	case "/trailers":
		out.Header().Set("Trailer", "X-Count")
		io.WriteString(out, lines)
		out.Header().Set("X-Count", "30")
	case "/early":
		out.Header().Set("Link", "</style.css>; rel=preload")
		out.WriteHeader(http.StatusEarlyHints)
		io.WriteString(out, "after a hint")
	case "/stored":
		count, _ := io.Copy(io.Discard, request.Body)
		out.WriteHeader(http.StatusCreated)
		fmt.Fprintf(out, "%d bytes", count)
	case "/refused":
		out.WriteHeader(http.StatusExpectationFailed)
	default:
		http.NotFound(out, request)
	}
}

func serve(path, address string) {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	var lock sync.Mutex
	handler := func(writer http.ResponseWriter, request *http.Request) {
		out := &counted{ResponseWriter: writer, status: 200}
		answer(out, request)
		if request.Method == "HEAD" {
			out.bytes = 0
		}
		_, port, _ := net.SplitHostPort(request.RemoteAddr)
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(file, "%s\t%s %s %s\t%d\t%d\n", port, request.Method, request.RequestURI,
			request.Proto, out.status, out.bytes)
	}
	log.Fatal(http.ListenAndServe(address, http.HandlerFunc(handler)))
}

func ask(client *http.Client, method, url string, body io.Reader, headers ...string) {
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		log.Fatal(err)
	}
	for nth := 0; nth+1 < len(headers); nth += 2 {
		request.Header.Set(headers[nth], headers[nth+1])
	}
	if headers != nil && headers[0] == "X-Trailer" {
		request.Trailer = http.Header{"X-Sum": {"7"}}
	}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

func converse(base string) {
	transport := &http.Transport{MaxConnsPerHost: 1, ExpectContinueTimeout: time.Second}
	client := &http.Client{Transport: transport}
	long := func() io.Reader { return bytes.NewReader(bytes.Repeat([]byte("z"), 3000)) }
	ask(client, "GET", base+"/file", nil)
	ask(client, "GET", base+"/file", nil, "If-None-Match", `"lab"`)
	ask(client, "HEAD", base+"/file", nil)
	ask(client, "GET", base+"/gzip", nil)
	ask(client, "GET", base+"/trailers", nil)
	ask(client, "GET", base+"/early", nil)
	ask(client, "POST", base+"/stored", long())
	ask(client, "POST", base+"/stored", long(), "Expect", "100-continue")
	// A reader of unknown length is sent in chunks.
	ask(client, "POST", base+"/stored", io.MultiReader(long(), long()), "X-Trailer", "yes")
	ask(client, "DELETE", base+"/nothing?why=none&%C3%A9", nil)
	// Last: the body is never sent, so the connection cannot be used again.
	ask(client, "PUT", base+"/refused", long(), "Expect", "100-continue")
}

func main() {
	if os.Args[1] == "server" {
		serve(os.Args[2], os.Args[3])
	}
	converse(os.Args[2])
}
