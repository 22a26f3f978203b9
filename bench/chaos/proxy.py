"""A TCP proxy whose connections are cut, or stop carrying anything, on request."""
import contextlib
import select
import socket
import struct
import threading

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Proxy:
    """Listens on `port` of 127.0.0.1 and forwards to `target`, a port there."""

    def __init__(self, target):
        self.target = target
        self.is_holding = threading.Event()    # nothing passes, and nobody is told
        self.stopping = False
        self.lock = threading.Lock()
        self.pairs = set()    # guarded by lock
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.stopping:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            client.close()
            return
        server.settimeout(None)
        pair = (client, server)
        with self.lock:
            self.pairs.add(pair)
        other = {client: server, server: client}
        with contextlib.suppress(OSError, ValueError):
            while True:
                ready, _, _ = select.select(pair, [], [], 0.2)
                if self.is_holding.is_set():
                    self.wait_until_released()
                for side in ready:
                    data = side.recv(1 << 16)
                    if not data:
                        raise OSError
                    other[side].sendall(data)
        self.close(pair)

    def wait_until_released(self):
        while self.is_holding.is_set() and not self.stopping:
            threading.Event().wait(0.05)

    def close(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for side in pair:
            with contextlib.suppress(OSError):
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                side.close()

    def cut(self):
        """All connections are reset."""
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            for side in pair:
                with contextlib.suppress(OSError):
                    side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    side.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self.stopping = True
        self.listener.close()
        self.cut()
