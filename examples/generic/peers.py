"""Says hello to every peer, and ends when every peer has said hello to it."""
import argparse
import socket
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--peers", required=True, help="host:port of each, separated by commas")
options = parser.parse_args()
peers = [peer.rsplit(":", 1) for peer in options.peers.split(",")]


def greet(host, port):
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(options.name.encode())
                if connection.recv(100):
                    return
        except ConnectionError:
            pass
        # It has not begun to listen yet, or its executor still holds its port for it and hangs up.
        time.sleep(0.1)


server = socket.create_server(("", options.port))
greetings = [threading.Thread(target=greet, args=peer) for peer in peers]
for greeting in greetings:
    greeting.start()
heard = set()
while len(heard) < len(peers):
    connection, _ = server.accept()
    with connection:
        heard.add(connection.recv(100).decode())
        connection.sendall(b"heard")
for greeting in greetings:
    greeting.join()
print(f"{options.name} heard {', '.join(sorted(heard))}")
