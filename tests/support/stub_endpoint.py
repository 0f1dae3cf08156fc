"""A local HTTP endpoint whose responses a test determines."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(text, tokens=(20, 3), cached=None):
    """Return the body of a response of OpenAI's endpoints, for both kinds of requests.

    The endpoints are for chats and for completions.
    """
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "text": text}],
        "usage": usage,
    }


@contextmanager
def stub_endpoint(answer, models=(200, {"data": []})):
    """Serve the results of ``answer(body)``, and yield the address of the endpoint.

    A result is a body, or a tuple of status, body and headers. ``address.requests`` has
    the path, the headers and the body of each request.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.reply(*models)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            address.requests.append(
                (
                    self.path,
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                )
            )
            response = answer(body)
            self.reply(*(response if isinstance(response, tuple) else (200, response)))

        def reply(self, status, body, headers=()):
            content = (
                body.encode() if isinstance(body, str) else json.dumps(body).encode()
            )
            self.send_response(status)
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Write no log."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

        def handle_error(self, request, client_address):
            """Ignore errors of connections."""

    with Server(("127.0.0.1", 0), Handler) as server:
        address = Address(f"http://127.0.0.1:{server.server_port}/v1")
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield address
        finally:
            server.shutdown()
            thread.join()


class Address(str):
    """Address of the endpoint, with the requests that it received."""

    def __init__(self, _):
        self.requests = []
