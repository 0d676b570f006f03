<?php
// Says what was uploaded: by a form with a file, or as the whole body.
if ($_SERVER["REQUEST_METHOD"] === "GET") {
    echo '<!doctype html><html lang="en"><title>Upload</title><link rel="icon" href="data:,"><h1>Upload</h1>',
        '<form method="post" enctype="multipart/form-data"><input type="file" name="file"><button>Send</button></form></html>';
    exit;
}
$file = $_FILES["file"] ?? null;
$path = $file["tmp_name"] ?? "php://input";
header("Content-Type: application/json");
echo json_encode(["name" => $file["name"] ?? null, "sha256" => hash_file("sha256", $path)]);
