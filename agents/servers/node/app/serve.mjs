// The pages of the shelf on Node's http: serve.mjs PORT BACKLOG.
import { createServer } from "node:http";

const [port, backlog] = process.argv.slice(2).map(Number);
const text = "text/plain; charset=utf-8";
const rows = Array.from({ length: 12 }, (_, index) => `row ${index + 1}`);

function table() {
  const cells = rows.map((row, index) => `<tr><td>${index}</td><td>${row}</td></tr>`).join("");
  return `<!DOCTYPE html><title>Rows</title><table>${cells}</table>`;
}

function findPage(path) {
  const size = /^\/bytes\/(\d{1,6})$/.exec(path);
  if (path === "/") return [200, text, "Hello, world!"];
  if (path === "/json") return [200, "application/json", '{"message": "Hello, world!"}'];
  if (path === "/template") return [200, "text/html; charset=utf-8", table()];
  return size ? [200, text, "x".repeat(Number(size[1]))] : [404, text, "Not found"];
}

createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const [status, type, body] = findPage(request.url.split("?")[0]);
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  });
}).listen({ port, host: "127.0.0.1", backlog });
