/** Text made safe to stand in HTML and SVG, in content and in quoted attributes alike. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Whatever it is, a browser shows it as it was written and obeys none of it. Controls that XML forbids are left out. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (found) => ENTITIES[found]!);
}
