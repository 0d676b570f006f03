<?php
// A site in PHP, as small frameworks do it: the address is decoded and taken apart, or what follows the script is.
$guarded = ["tickets", "café", "my tickets"];

function first(string $path): string {
    $names = array_filter(explode("/", trim($path, "/ ")), fn($name) => $name !== "" && $name !== ".");
    return strtolower(array_values($names)[0] ?? "");
}

// As Symfony and Laminas behind IIS: a header may name the address that was rewritten.
$uri = $_SERVER["HTTP_X_ORIGINAL_URL"] ?? $_SERVER["HTTP_X_REWRITE_URL"] ?? $_SERVER["REQUEST_URI"];
$path = parse_url($uri, PHP_URL_PATH);
$path = is_string($path) ? $path : "/";
$readings = [
    rawurldecode($path),
    urldecode($path),
    $_SERVER["PATH_INFO"] ?? "",
    // The front controller's own name is no part of the route.
    preg_replace("#^/index\\.php(?=/|$)#", "", rawurldecode($path)),
];
foreach ($readings as $reading) {
    if (in_array(first($reading), $guarded, true)) {
        header("x-guarded: yes");
        echo getenv("SITE_WORDS");
        return true;
    }
}
// A file of the folder, served by PHP itself.
if (is_file(getenv("SITE_FOLDER") . rawurldecode($path))) return false;
echo "open";
return true;
