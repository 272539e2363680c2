# The pages of the shelf as an application for Rack.
require "json"

ROWS = (1..12).map { |number| "row #{number}" }

def table
  cells = ROWS.each_with_index.map { |row, index| "<tr><td>#{index}</td><td>#{row}</td></tr>" }
  "<!DOCTYPE html><title>Rows</title><table>#{cells.join}</table>"
end

def find_page(path)
  case path
  when "/" then [200, "text/plain; charset=utf-8", "Hello, world!"]
  when "/json" then [200, "application/json", JSON.generate(message: "Hello, world!")]
  when "/template" then [200, "text/html; charset=utf-8", table]
  when %r{\A/bytes/(\d{1,6})\z} then [200, "text/plain; charset=utf-8", "x" * $1.to_i]
  else [404, "text/plain; charset=utf-8", "Not found"]
  end
end

run(lambda do |environment|
  status, type, body = find_page(environment["PATH_INFO"])
  [status, { "Content-Type" => type, "Content-Length" => body.bytesize.to_s }, [body]]
end)
