/** Text made safe for HTML and SVG, in content and in quoted attributes. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text, so that a browser shows it as written. Control characters that XML forbids are left out. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (found) => ENTITIES[found]!);
}
