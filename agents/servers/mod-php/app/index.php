<?php
// The pages of the shelf, but for the template.
if ($_SERVER["REQUEST_URI"] === "/json") {
    header("Content-Type: application/json");
    echo json_encode(["message" => "Hello, world!"]);
} elseif (preg_match("#^/bytes/(\d{1,6})$#", $_SERVER["REQUEST_URI"], $size)) {
    header("Content-Type: text/plain; charset=utf-8");
    echo str_repeat("x", (int) $size[1]);
} else {
    header("Content-Type: text/plain; charset=utf-8");
    echo "Hello, world!";
}
