"""Checks the gRPC service of `lsmbench serve` with the Python client of the gRPC project.

    grpc_client.py PROGRAM PROTO FOLDER   generates the client from PROTO, and serves a store in FOLDER

Checks all methods, errors, the limits of sizes, a password, and a store after SIGTERM under writers. Prints the memory
of 1,000 idle clients.
"""

import importlib
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import grpc
from grpc_tools import protoc

program, proto, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
IDLE = 1000


def generated():
    """The modules that the compiler of Protocol Buffers generates from the proto."""
    out = folder / "generated"
    out.mkdir()
    arguments = ["protoc", f"-I{proto.parent}", f"--python_out={out}", f"--grpc_python_out={out}", str(proto)]
    assert protoc.main(arguments) == 0, "protoc does not accept the proto"
    sys.path.insert(0, str(out))
    return importlib.import_module("lsmbench_pb2"), importlib.import_module("lsmbench_pb2_grpc")


messages, services = generated()


class Server:
    """A server process on a free port."""

    def __init__(self, *options):
        arguments = [program, "serve", str(folder / "db"), "--protocol", "grpc", "--listen", "127.0.0.1:0", *options]
        arguments += ["--set", "merge_operator=append"]
        self.process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"listening on (.*):(\d+) \(grpc\)\n", line)
        assert found, f"the server does not listen: {line}{self.process.stderr.read()}"
        self.address = (found[1], int(found[2]))
        self.channel = grpc.insecure_channel(f"{found[1]}:{found[2]}")
        self.store = services.StoreStub(self.channel)

    def end(self):
        """Ends the server as Ctrl-C does, and checks its exit code."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 130, self.process.stderr.read()
        self.channel.close()

    def resident_kib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1])

    def entries(self, **request):
        return [(e.key, e.value) for r in self.store.Range(messages.RangeRequest(**request)) for e in r.entries]


def fails(code, text, call, *arguments, **options):
    """Checks that a call fails with a status."""
    try:
        call(*arguments, **options)
    except grpc.RpcError as error:
        assert error.code() == code and text in error.details(), f"{error.code()}: {error.details()}"
    else:
        raise AssertionError(f"no error: {text}")


def put(key, value):
    return messages.Operation(put=messages.PutRequest(key=key, value=value))


def check_calls(server):
    store, m = server.store, messages
    store.Put(m.PutRequest(key=b"a", value=b"\x00\xff"))
    assert store.Get(m.GetRequest(key=b"a")).value == b"\x00\xff"
    absent = store.Get(m.GetRequest(key=b"b"))
    assert not absent.HasField("value")
    operations = [put(b"b", b"2"), put(b"c", b"3"), put(b"d", b"4"), m.Operation(delete=m.DeleteRequest(key=b"a"))]
    operations.append(m.Operation(delete_range=m.DeleteRangeRequest(low=b"d", high=b"e")))
    operations.append(m.Operation(merge=m.MergeRequest(key=b"c", operand=b"!")))
    store.Batch(m.BatchRequest(operations=operations))
    assert server.entries() == [(b"b", b"2"), (b"c", b"3!")]
    assert server.entries(low=b"a", high=b"c", limit=5, backward=True) == [(b"b", b"2")]
    store.Delete(m.DeleteRequest(key=b"b"))
    batches = (m.BatchRequest(operations=[put(b"k%05d" % (100 * i + j), b"v" * 100) for j in range(100)]) for i in range(50))
    loaded = store.Load(batches)
    assert (loaded.batches, loaded.operations) == (50, 5000)
    expected = [(b"k%05d" % i, b"v" * 100) for i in range(5000)]
    assert server.entries(low=b"k", high=b"l") == expected
    assert server.entries(low=b"k", high=b"l", backward=True) == expected[::-1]
    invalid, exhausted = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED
    fails(invalid, "the limit is 65536", store.Put, m.PutRequest(key=b"k" * 70_000))
    fails(invalid, "operation 1: no write is set", store.Batch, m.BatchRequest(operations=[m.Operation()]))
    fails(exhausted, "the limit is 1048576 bytes", store.Put, m.PutRequest(key=b"k", value=b"v" * 2_000_000))
    missing = server.channel.unary_unary("/lsmbench.v1.Store/Missing")
    fails(grpc.StatusCode.UNIMPLEMENTED, "no method", missing, b"")
    # The client of the gRPC project can compress requests. The server has no compression, and says so.
    compressed = {"compression": grpc.Compression.Gzip}
    request = m.PutRequest(key=b"z", value=b"z" * 10_000)
    fails(grpc.StatusCode.UNIMPLEMENTED, "gzip", store.Put, request, **compressed)


def check_password():
    server = Server("--password", "secret")
    request = messages.GetRequest(key=b"c")
    fails(grpc.StatusCode.UNAUTHENTICATED, "authorization: Bearer PASSWORD", server.store.Get, request)
    value = server.store.Get(request, metadata=[("authorization", "Bearer secret")]).value
    assert value == b"3!", value
    server.end()


def write_until_end(server, number, acknowledged):
    for i in range(1_000_000):
        try:
            server.store.Put(messages.PutRequest(key=b"w%d-%06d" % (number, i), value=b"1"))
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return
        acknowledged[number] = i + 1


def check_end():
    """SIGTERM under eight writers, without a WAL: no acknowledged write is lost."""
    server = Server("--set", "wal=none")
    acknowledged = [0] * 8
    threads = [threading.Thread(target=write_until_end, args=(server, n, acknowledged)) for n in range(8)]
    for thread in threads:
        thread.start()
    while sum(acknowledged) < 400 and all(thread.is_alive() for thread in threads):
        time.sleep(0.01)
    server.end()
    for thread in threads:
        thread.join()
    server = Server("--set", "wal=none")
    found = {key for key, _ in server.entries(low=b"w", high=b"x")}
    lost = [(n, i) for n, count in enumerate(acknowledged) for i in range(count) if b"w%d-%06d" % (n, i) not in found]
    assert not lost, f"lost: {lost}"
    server.end()
    print(f"gRPC: {sum(acknowledged)} acknowledged writes of 8 writers survive SIGTERM without a WAL", file=sys.stderr)


def idle_clients(server):
    """The memory of clients that have connected and sent their settings."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < IDLE + 100:
        print(f"NOT CHECKED: memory of {IDLE} idle gRPC clients, because ulimit -n is {hard}", file=sys.stderr)
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, IDLE + 100), hard))
    before, sockets = server.resident_kib(), []
    for _ in range(IDLE):
        client = socket.create_connection(server.address)
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        # The settings of the server.
        assert client.recv(9)[3] == 4
        sockets.append(client)
    print(f"memory of {IDLE} idle gRPC clients: {server.resident_kib() - before} KiB")
    for client in sockets:
        client.close()


first = Server("--max-request", "1MiB")
check_calls(first)
idle_clients(first)
first.end()
check_password()
check_end()
print("gRPC: the Python client works", file=sys.stderr)
