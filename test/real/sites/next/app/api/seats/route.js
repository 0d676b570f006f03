export const dynamic = "force-dynamic";

export function GET() {
  return Response.json({ seats: 42 });
}
