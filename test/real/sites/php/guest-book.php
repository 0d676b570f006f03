<?php
// A guest book as PHP sites have them: a session in a cookie of its own, a form, and a redirect after it.
session_start();
if ($_SERVER["REQUEST_METHOD"] === "POST") {
    $_SESSION["names"][] = $_POST["name"];
    header("Location: guest-book.php", true, 303);
    exit;
}
$names = $_SESSION["names"] ?? [];
?>
<!doctype html>
<html lang="en">
<title>The guest book</title>
<link rel="icon" href="data:,">
<h1>The guest book</h1>
<form method="post">
  <label>Name <input name="name" required></label>
  <button>Sign</button>
</form>
<ul><?php foreach ($names as $name) echo "<li>Signed by ", htmlspecialchars($name), "</li>"; ?></ul>
</html>
