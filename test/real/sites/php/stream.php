<?php
// Sends half of a page and holds the rest back until the test lets it go, by a file. It gives up after three minutes.
header("Content-Type: text/html; charset=utf-8");
while (ob_get_level() > 0) ob_end_flush();
echo "<!doctype html><title>Slowly</title><p id=first>The first half</p>", str_repeat(" ", 1024);
flush();
for ($tries = 0; $tries < 1800 && !file_exists(__DIR__ . "/go-on"); $tries++) {
    usleep(100000);
    clearstatcache();
}
echo "<p id=second>The second half</p>";
