/**
 * Search engines and link previews, known by the names they give themselves. They keep no cookies and cannot wait, and must
 * never take the waiting page for the site: while there is a line they get 503 with Retry-After, which says to come again
 * later and leaves what they know of the page as it is. Whoever gives such a name gets nothing by it but that.
 */
const CRAWLERS = [
  // Search engines.
  ...[
    "Googlebot",
    "Google-InspectionTool",
    "GoogleOther",
    "Storebot-Google",
    "AdsBot-Google",
    "Mediapartners-Google",
  ],
  ...[
    "bingbot",
    "BingPreview",
    "adidxbot",
    "DuckDuckBot",
    "Slurp",
    "Baiduspider",
    "YandexBot",
    "YandexImages",
  ],
  ...[
    "Applebot",
    "SeznamBot",
    "Yeti/",
    "PetalBot",
    "Sogou web spider",
    "Qwantbot",
    "Bravebot",
    "archive.org_bot",
  ],
  // Link previews.
  ...[
    "facebookexternalhit",
    "Facebot",
    "meta-externalagent",
    "Twitterbot",
    "LinkedInBot",
    "Slackbot",
    "Discordbot",
  ],
  ...[
    "TelegramBot",
    "WhatsApp/",
    "SkypeUriPreview",
    "Pinterestbot",
    "redditbot",
    "Mastodon/",
    "Bluesky Cardyb",
  ],
  ...["Iframely", "Embedly", "vkShare", "Viber/", "Snap URL Preview", "Google-PageRenderer"],
  // Those that gather texts.
  ...[
    "GPTBot",
    "OAI-SearchBot",
    "ChatGPT-User",
    "ClaudeBot",
    "Claude-User",
    "PerplexityBot",
    "CCBot",
    "Amazonbot",
  ],
].map((name) => name.toLowerCase());

const USER_AGENT_CHARACTERS_MAX = 1_000;

export function isCrawler(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const lower = userAgent.slice(0, USER_AGENT_CHARACTERS_MAX).toLowerCase();
  return CRAWLERS.some((name) => lower.includes(name));
}
