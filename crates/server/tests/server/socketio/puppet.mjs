// The official client, on strings: does what each line of standard input says, and writes down what happens.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { io } = createRequire(process.argv[2] + "/")("socket.io-client");
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
let socket;
let followed; // {sessionId, after}: joined again after every drop, as a page would.

const join = () =>
  socket.emit("session:join", followed, (answer) => say({ is: "joined", answer }));

const does = {
  connect({ url, options }) {
    socket = io(url, { reconnectionDelay: 5, reconnectionDelayMax: 20, timeout: 10000, ...options });
    socket.on("connect", () => {
      say({ is: "connect" });
      if (followed) join();
    });
    // Before the server has answered: an upgrade may come first.
    socket.io.on("open", () => {
      const engine = socket.io.engine;
      say({ is: "open", transport: engine.transport.name });
      engine.once("upgrade", (transport) => say({ is: "upgrade", transport: transport.name }));
    });
    socket.on("connect_error", (error) => say({ is: "connect_error", message: error.message }));
    socket.on("disconnect", (reason) => say({ is: "disconnect", reason }));
    socket.onAny((name, payload) => {
      if (followed && payload?.sessionId === followed.sessionId && payload.seq > followed.after) {
        followed.after = payload.seq;
      }
      say({ is: "event", name, payload });
    });
  },
  follow({ sessionId, after }) {
    followed = { sessionId, after };
    join();
  },
  emit({ name, payload }) {
    socket.emit(name, payload, (answer) => say({ is: "answer", name, answer }));
  },
  send({ name, payload }) {
    socket.emit(name, payload);
  },
  // The connection is lost; the client comes back by itself.
  drop() {
    socket.io.engine.close();
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const command = JSON.parse(line);
    does[command.do](command);
  })
  .on("close", () => process.exit(0));
