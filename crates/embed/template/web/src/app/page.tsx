export default function Page() {
  return (
    <main>
      <h1>Nothing here yet</h1>
      <p>This page is src/app/page.tsx.</p>
    </main>
  );
}
