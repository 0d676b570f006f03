import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TURNS, TurnNews } from "./turn-news.ts";

test("news is reported until a round is announced, and later news stays", () => {
  const news = new TurnNews();
  news.note("entered");
  assert.equal(news.report().entered, 1);
  news.note("entered");
  news.note("loosened");
  assert.deepEqual(
    news.report(),
    { ...NO_TURNS, entered: 2, loosened: 1 },
    "the round before came to nothing",
  );
  news.note("left");
  news.announced();
  assert.deepEqual(news.report(), { ...NO_TURNS, left: 1 });
  news.announced();
  news.announced();
  assert.deepEqual(news.report(), NO_TURNS);
});

test("news that was taken is not reported any more", () => {
  const news = new TurnNews();
  for (let i = 0; i < 3; i++) news.note("missed");
  news.report();
  assert.deepEqual(news.take(), { ...NO_TURNS, missed: 3 });
  news.announced();
  assert.deepEqual(news.report(), NO_TURNS);
});
