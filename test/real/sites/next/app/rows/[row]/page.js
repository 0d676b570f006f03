import Link from "next/link";

export default async function Row({ params }) {
  const { row } = await params;
  return (
    <main>
      <h1>Row {row}</h1>
      <Link href="/">Back to the shop</Link>
    </main>
  );
}
