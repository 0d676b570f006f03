"use client";
// What Next.js shows when a server action fails that nobody catches.
export default function Failed() {
  return <h1>Something went wrong</h1>;
}
