/**
 * Search engines and link previews, known by their user agents. They keep no cookies and cannot wait, and must never index the
 * waiting page as the site. While there is a line they get 503 with Retry-After: they come back later and keep what they
 * indexed. Pretending to be one gains nothing else.
 *
 * Crawlers that are not in the list are recognised by their form: `compatible;` and then an address with a plus in front, for
 * questions to their owners. No browser does that.
 *
 * Also programs that accept HTML like a browser by default, though nobody sees the page.
 */
const SEARCH_ENGINES =
  "Googlebot,Google-InspectionTool,GoogleOther,Storebot-Google,AdsBot-Google,Mediapartners-Google,APIs-Google," +
  "FeedFetcher-Google,bingbot,BingPreview,adidxbot,DuckDuckBot,DuckAssistBot,Slurp,Baiduspider,YandexBot," +
  "YandexImages,Applebot,SeznamBot,Yeti/,PetalBot,Sogou web spider,Qwantbot,Bravebot,archive.org_bot";
const LINK_PREVIEWS =
  "facebookexternalhit,Facebot,meta-externalagent,meta-externalfetcher,meta-webindexer,Twitterbot,LinkedInBot," +
  "Slackbot,Slack-ImgProxy,Discordbot,TelegramBot,SkypeUriPreview,Pinterestbot,redditbot,Bluesky Cardyb," +
  "Iframely,Embedly,vkShare,Snap URL Preview,Google-PageRenderer";
const TEXT_GATHERERS =
  "GPTBot,OAI-SearchBot,ChatGPT-User,ClaudeBot,Claude-User,Claude-SearchBot,PerplexityBot,Perplexity-User," +
  "MistralAI-User,Bytespider,TikTokSpider,CCBot,Amazonbot";
const CRAWLERS = `${SEARCH_ENGINES},${LINK_PREVIEWS},${TEXT_GATHERERS}`.toLowerCase().split(",");

/** Apps have the same names, and browsers inside apps may add them to their own. */
const CRAWLERS_AND_APPS = ["whatsapp/", "viber/", "mastodon/"];
const BROWSER = "mozilla/";

/** GNU Wget2, and Java's URL and HttpURLConnection. */
const PAGE_TAKERS = ["wget2/", "java/"];

const USER_AGENT_CHARACTERS_MAX = 1_000;

export function isCrawler(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const lower = userAgent.slice(0, USER_AGENT_CHARACTERS_MAX).toLowerCase();
  if (CRAWLERS.some((name) => lower.includes(name))) return true;
  if (!lower.startsWith(BROWSER) && CRAWLERS_AND_APPS.some((name) => lower.includes(name))) return true;
  const compatible = lower.indexOf("compatible;");
  return compatible >= 0 && lower.indexOf("+http", compatible) >= 0;
}

/** True for a program that accepts HTML by default. */
export function isPageTaker(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const lower = userAgent.slice(0, USER_AGENT_CHARACTERS_MAX).toLowerCase();
  return PAGE_TAKERS.some((name) => lower.startsWith(name));
}
