// The demo's answer from Node's own http module: one process, keep-alive by default.
import { createServer } from "node:http";

const BODY = "Hello, world!";
const HEADERS = { "Content-Type": "text/plain", "Content-Length": Buffer.byteLength(BODY) };
const BACKLOG = 2048;

const server = createServer((_request, response) => {
  response.writeHead(200, HEADERS);
  response.end(BODY);
});

server.listen(Number(process.argv[2]), "127.0.0.1", BACKLOG);
