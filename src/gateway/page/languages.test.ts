import assert from "node:assert/strict";
import { test } from "node:test";
import { languageChooser, languages, lookUpLanguage, textsOf } from "./languages.ts";

const choose = languageChooser("en");

test("the language follows the visitor's wishes in order of weight", () => {
  assert.equal(choose("sv"), "sv");
  assert.equal(choose("sv;q=0.5, de;q=0.9, en;q=0.1"), "de");
  assert.equal(choose("fr;q=0.8, it;q=0.8"), "fr");
  assert.equal(choose("xx, nl;q=0.3"), "nl");
  assert.equal(choose("DE-at"), "de");
});

test("a region without texts of its own gets its language, and a script or older code the right one", () => {
  assert.equal(choose("pt-BR,en;q=0.5"), "pt");
  assert.equal(choose("zh-CN"), "zh");
  assert.equal(choose("zh-TW"), "zh-Hant");
  assert.equal(choose("zh-Hant-HK"), "zh-Hant");
  assert.equal(choose("no-NO"), "nb");
  assert.equal(choose("nn"), "nb");
  assert.equal(choose("iw"), "he");
});

test("no language, a refused one and `*` lead to the default", () => {
  const german = languageChooser("de");
  for (const header of [undefined, "", "xx-YY", "fr;q=0", "*", "*;q=0.5, xx", ";;;", "q=1", "fr;q=abc"]) {
    assert.equal(german(header), "de", String(header));
  }
});

test("an overlong or hostile header is read only so far and never throws", () => {
  assert.equal(choose(`${"x-".repeat(100_000)}sv`), "en");
  assert.equal(choose(`${"xx,".repeat(10_000)}sv`), "en");
  assert.equal(choose("__proto__, constructor, sv"), "sv");
});

test("a cached answer is the same answer", () => {
  for (let round = 0; round < 3; round++) assert.equal(choose("uk;q=0.7,pl"), "pl");
  for (let i = 0; i < 2_000; i++) choose(`x${i}`);
  assert.equal(choose("uk;q=0.7,pl"), "pl");
});

test("the twelve promised languages are there", () => {
  for (const tag of ["en", "sv", "nl", "de", "fr", "es", "pt", "it", "pl", "ja", "zh", "ar"]) {
    assert.ok(languages().has(tag), tag);
    assert.equal(lookUpLanguage(tag), tag);
  }
});

const english = flatten(textsOf("en"));

for (const [tag, texts] of languages()) {
  test(`${tag} has the same texts as English, each with the same placeholders and none empty`, () => {
    const flat = flatten(texts);
    assert.deepEqual([...flat.keys()].sort(), [...english.keys()].sort());
    for (const [key, forms] of flat) {
      const wanted = placeholders(english.get(key)!.join());
      for (const form of forms) {
        assert.match(form, /\S/, key);
        for (const name of placeholders(form)) assert.ok(wanted.includes(name), `${key}: {${name}}`);
      }
      // A plural may say "one" or "two" in words, but its general form has the number.
      assert.deepEqual(placeholders(forms.at(-1)!), wanted, key);
    }
  });

  test(`${tag} is a language that Intl knows, in its own direction`, () => {
    assert.deepEqual(Intl.getCanonicalLocales(tag), [tag]);
    assert.deepEqual(Intl.NumberFormat.supportedLocalesOf([tag]), [tag]);
    // The library's types lack it.
    const locale = new Intl.Locale(tag) as Intl.Locale & { getTextInfo(): { readonly direction: string } };
    assert.equal(texts.direction, locale.getTextInfo().direction);
  });
}

/** Every text by its key; a text with plural forms as all of them, the general one last. */
function flatten(value: object, path = ""): Map<string, string[]> {
  const flat = new Map<string, string[]>();
  for (const [key, child] of Object.entries(value)) {
    const name = path === "" ? key : `${path}.${key}`;
    if (typeof child === "string") flat.set(name, [child]);
    else if ("other" in child) {
      const { other, ...rest } = child;
      flat.set(name, [...(Object.values(rest) as string[]), other]);
    } else for (const [inner, texts] of flatten(child, name)) flat.set(inner, texts);
  }
  return flat;
}

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))].sort();
}
