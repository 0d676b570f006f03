export default function manifest() {
  return {
    name: "The shop",
    start_url: "/",
    display: "standalone",
    icons: [{ src: "/hall.png", sizes: "64x64", type: "image/png" }],
  };
}
