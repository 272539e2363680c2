<?php
// The first two pages of the shelf.
if ($_SERVER["REQUEST_URI"] === "/json") {
    header("Content-Type: application/json");
    echo json_encode(["message" => "Hello, world!"]);
} else {
    header("Content-Type: text/plain; charset=utf-8");
    echo "Hello, world!";
}
