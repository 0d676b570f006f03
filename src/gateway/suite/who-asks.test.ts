/**
 * Browsers, crawlers, link previews and programs, with the headers that they really send, in front of a line: the first get
 * the page, the next 503, the last 429 and nothing that could be taken for what they asked for. While there is room all of
 * them get the site.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage, type Stage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage } from "../../testing/gateway/visitor.ts";

type Headers = Readonly<Record<string, string>>;

const CHROMIUM_ACCEPT =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7";
const PLAIN_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/** What browsers add on https. On http they send none of it. */
const NAVIGATION = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "none" };
const ANDROID = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)";
const WEB_VIEW =
  "Mozilla/5.0 (Linux; Android 15; SM-S938B Build/AP3A.240905.015; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36";
const WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";

function chromium(userAgent: string): Headers {
  const always = { accept: CHROMIUM_ACCEPT, "accept-language": "en-GB", "upgrade-insecure-requests": "1" };
  return { ...always, "user-agent": userAgent };
}

function webKit(userAgent: string): Headers {
  return { accept: PLAIN_ACCEPT, "accept-language": "en-GB", "user-agent": userAgent };
}

const BROWSERS: Readonly<Record<string, Headers>> = {
  Chrome: chromium(`${WINDOWS} Chrome/142.0.0.0 Safari/537.36`),
  Edge: chromium(`${WINDOWS} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`),
  Opera: chromium(`${WINDOWS} Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0`),
  Yandex: chromium(`${WINDOWS} Chrome/140.0.0.0 YaBrowser/25.10.0.0 Safari/537.36`),
  "Chrome on Android": chromium(`${ANDROID} Chrome/142.0.0.0 Mobile Safari/537.36`),
  "Samsung Internet": chromium(`${ANDROID} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`),
  Firefox: {
    ...webKit("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"),
    "upgrade-insecure-requests": "1",
  },
  "Safari on a Mac": webKit(
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15",
  ),
  "Safari on an iPhone": webKit(`${IPHONE} Version/26.1 Mobile/15E148 Safari/604.1`),
  "Chrome on an iPhone": webKit(`${IPHONE} CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1`),
  "DuckDuckGo's browser": webKit(`${IPHONE} Version/26.1 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15`),
  "Google's app": webKit(`${IPHONE} GSA/393.0.825461587 Mobile/15E148 Safari/604.1`),
  "Facebook's app": webKit(
    `${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/537.0.0.32.104;FBDV/iPhone17,1;FBLC/en_GB]`,
  ),
  "Facebook's app on Android": chromium(`${WEB_VIEW} [FB_IAB/FB4A;FBAV/537.0.0.50.103;]`),
  Instagram: chromium(`${WEB_VIEW} Instagram 404.0.0.48.76 Android (35/15; 480dpi; 1080x2340; samsung)`),
  TikTok: chromium(`${WEB_VIEW} trill_420403 BytedanceWebview/d8a21c6 musical_ly_420403`),
  LinkedIn: webKit(`${IPHONE} Mobile/15E148 [LinkedInApp]/9.31.5555`),
  Pinterest: webKit(`${IPHONE} Mobile/15E148 [Pinterest/iOS]`),
  Snapchat: webKit(`${IPHONE} Mobile/15E148 Snapchat/13.62.0.45 (like Safari/8620.1.16, panda)`),
  Telegram: chromium(`${WEB_VIEW} Telegram-Android/12.1.1 (Samsung SM-S938B; Android 15; SDK 35; HIGH)`),
  "an app of a preview's name": chromium(`${WEB_VIEW} Viber/26.4.0 WhatsApp/2.25.30.76`),
  LINE: webKit(`${IPHONE} Mobile/15E148 Safari Line/15.17.0`),
  WeChat: webKit(`${IPHONE} Mobile/15E148 MicroMessenger/8.0.64(0x18004036) NetType/WIFI Language/en`),
  "Internet Explorer": {
    accept: "text/html, application/xhtml+xml, */*",
    "user-agent": "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)",
  },
  Lynx: {
    accept: "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01",
    "user-agent": "Lynx/2.9.0 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.8.3",
  },
};

const ANY = { accept: "*/*" };
const html = (userAgent: string): Headers => ({ accept: PLAIN_ACCEPT, "user-agent": userAgent });
const any = (userAgent: string): Headers => ({ ...ANY, "user-agent": userAgent });
const bare = (userAgent: string): Headers => ({ "user-agent": userAgent });

const CRAWLERS: Readonly<Record<string, Headers>> = {
  Googlebot: html("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
  "Googlebot for phones": html(
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.7444.59 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  ),
  "Googlebot for pictures": { accept: "image/*", "user-agent": "Googlebot-Image/1.0" },
  "a test from Search Console": html(
    `${ANDROID} Chrome/142.0.0.0 Mobile Safari/537.36 (compatible; Google-InspectionTool/1.0;)`,
  ),
  Bingbot: html(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/136.0.0.0 Safari/537.36",
  ),
  "Microsoft's previews": html(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview) Chrome/136.0.0.0 Safari/537.36",
  ),
  Applebot: html(
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
  ),
  DuckDuckBot: any("DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)"),
  DuckAssistBot: any("DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)"),
  YandexBot: any("Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"),
  "Yandex for phones": any(`${IPHONE} (compatible; YandexMobileBot/3.0; +http://yandex.com/bots)`),
  Baiduspider: any("Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)"),
  AhrefsBot: any("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"),
  GPTBot: any(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot",
  ),
  "ChatGPT-User": html(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
  ),
  "OAI-SearchBot": any(
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot",
  ),
  ClaudeBot: any(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
  ),
  "Claude-SearchBot": any("Mozilla/5.0 (compatible; Claude-SearchBot/1.0; +Claude-SearchBot@anthropic.com)"),
  "Perplexity-User": html(
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)",
  ),
  Bytespider: any(
    "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
  ),
  "a crawler that nobody has heard of": html(
    "Mozilla/5.0 (compatible; NovelBot/0.1; +https://novel.example)",
  ),
  facebookexternalhit: any("facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
  "meta-externalagent": any(
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
  ),
  Twitterbot: any("Twitterbot/1.0"),
  Slackbot: { ...any("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"), range: "bytes=0-32768" },
  WhatsApp: any("WhatsApp/2.23.20.0"),
  TelegramBot: html("TelegramBot (like TwitterBot)"),
  Discordbot: any("Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"),
  LinkedInBot: any("LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"),
  iMessage: html(
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
  ),
  Teams: any(
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  ),
  Mastodon: any("Mastodon/4.5.0 (http.rb/5.3.1; +https://social.example/) Bot"),
  Bluesky: any("Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)"),
};

/** Noted down from the programs themselves where they could be run. */
const PROGRAMS: Readonly<Record<string, Headers>> = {
  curl: any("curl/8.14.1"),
  Wget: any("Wget/1.25.0"),
  "Wget2, which asks like a browser": html("wget2/2.2.0"),
  "python-requests": any("python-requests/2.32.5"),
  "Python's urllib": bare("Python-urllib/3.14"),
  httpx: any("python-httpx/0.28.1"),
  "Go-http-client": bare("Go-http-client/1.1"),
  okhttp: bare("okhttp/5.2.1"),
  "Node's fetch": { ...any("node"), "accept-language": "*", "sec-fetch-mode": "cors" },
  "node-fetch": any("node-fetch/1.0 (+https://github.com/bitinn/node-fetch)"),
  "Java's HttpClient": bare("Java-http-client/25.0.1"),
  "Java's HttpURLConnection, which asks like a browser": {
    accept: "text/html, image/gif, image/jpeg, */*; q=0.2",
    "user-agent": "Java/25.0.1",
  },
  "Java's HttpURLConnection of old": {
    accept: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    "user-agent": "Java/1.8.0_472",
  },
  "Apache HttpClient": bare("Apache-HttpClient/5.5 (Java/25.0.1)"),
  "an iPhone app": {
    ...any("Shop/7 CFNetwork/3860.100.1 Darwin/25.0.0"),
    "accept-language": "en-GB,en;q=0.9",
  },
  PowerShell: bare("Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.26100; en-GB) PowerShell/7.5.4"),
  Guzzle: bare("GuzzleHttp/7"),
  Ruby: any("Ruby"),
  Postman: any("PostmanRuntime/7.49.1"),
  "nothing at all": {},
};

const AXIOS = { accept: "application/json, text/plain, */*", "user-agent": "axios/1.13.2" };

async function asked(stage: Stage, headers: Headers, method = "GET") {
  const visitor = stage.visitor();
  return visitor.ask("/file.zip", { method, headers });
}

test("browsers get the waiting page, on http and on https", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  for (const [name, headers] of Object.entries(BROWSERS)) {
    const seen = await asked(stage, headers);
    assert.ok(seen.headers["set-cookie"], name);
    assertWaitingPage(seen, 200);
    assertWaitingPage(await asked(stage, { ...headers, ...NAVIGATION }), 200);
  }
});

test("crawlers and link previews get 503 with Retry-After, and no place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  for (const [name, headers] of Object.entries(CRAWLERS)) {
    const { status, headers: got } = await asked(stage, headers);
    assert.deepEqual([status, got["retry-after"], got["fairgate-status"]], [503, "120", "refused"], name);
    assert.deepEqual([got["cache-control"], got["set-cookie"]], ["no-store", undefined], name);
  }
  assert.equal((await stage.engine.counts("main")).waiting, 0);
});

test("programs get 429 and one line that says what to do, and no place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  for (const [name, headers] of Object.entries(PROGRAMS)) {
    for (const method of ["GET", "POST"]) {
      const { status, headers: got, text } = await asked(stage, headers, method);
      assert.deepEqual(
        [status, got["fairgate-status"], got["set-cookie"]],
        [429, "refused", undefined],
        name,
      );
      assert.match(got["content-type"]!, /^text\/plain/, name);
      assert.match(text, /^[^\n<]*Fairgate-Token: new[^\n<]*\n$/, name);
    }
  }
  assert.equal((await stage.engine.counts("main")).waiting, 0);
  const { status, text } = await asked(stage, AXIOS);
  assert.deepEqual([status, JSON.parse(text).status], [429, "waiting"], "axios asks for JSON");
});

test("a program that asks like a browser gets a place when it says that it keeps one", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const headers = { ...html("wget2/2.2.0"), "fairgate-token": "new" };
  const { status, text } = await asked(stage, headers);
  assert.deepEqual([status, JSON.parse(text).status], [429, "waiting"]);
});

test("while there is room all of them get the site", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1_000 } });
  for (const [name, headers] of Object.entries({ ...BROWSERS, ...CRAWLERS, ...PROGRAMS, AXIOS }))
    assert.equal((await asked(stage, headers)).text, "the site", name);
});
