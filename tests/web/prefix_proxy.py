"""A proxy that serves a service below a path: what it is asked for there goes on without the prefix, all else is refused."""
import http.client
import http.server
import threading


def handler(port, prefix):
    class Handler(http.server.BaseHTTPRequestHandler):
        def forward(self):
            if not self.path.startswith(prefix + "/"):
                return self.send_error(404)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(self.command, self.path[len(prefix):], body or None, dict(self.headers))
            answer = connection.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while chunk := answer.read1(65536):    # as it comes: streams have no end
                self.wfile.write(chunk)
            self.close_connection = True

        do_GET = do_POST = do_HEAD = do_PATCH = do_DELETE = forward

        def log_message(self, *_):
            pass

    return Handler


def serve_below(case, port, prefix):
    """The address of the service on `port` below `prefix`; ends with the test."""
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(port, prefix))
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    case.addClassCleanup(proxy.server_close)
    case.addClassCleanup(proxy.shutdown)
    return f"http://127.0.0.1:{proxy.server_port}{prefix}/"
