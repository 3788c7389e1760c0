// The whole board.

export function App() {
  return <main>Pleach</main>;
}
