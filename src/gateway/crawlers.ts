/**
 * Search engines and link previews, known by the names they give themselves. They keep no cookies and cannot wait, and must
 * never take the waiting page for the site: while there is a line they get 503 with Retry-After, which says to come again later
 * and leaves what they know of the page as it is. Pretending to be one gains nothing else.
 *
 * Those that are not in the list are known by their manners: `compatible;` and then an address with a plus in front, where
 * their owners can be asked about them. No browser says so.
 *
 * And programs that ask for a page like a browser by default, though nobody looks at it.
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

/** Apps have the same names, and browsers inside of apps may give them beside their own. */
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

/** True for a program that says it takes a page, whatever it asks for. */
export function isPageTaker(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const lower = userAgent.slice(0, USER_AGENT_CHARACTERS_MAX).toLowerCase();
  return PAGE_TAKERS.some((name) => lower.startsWith(name));
}
