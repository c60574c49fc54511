import { createContext, use, useState, type ReactNode } from "react";
import { WarrenClient, type ClientOptions } from "./core/client";
import type { SessionStore } from "./core/store";

const Context = createContext<WarrenClient | null>(null);

export type WarrenProviderProps = { children: ReactNode } & ({ client: WarrenClient } | ClientOptions);

/** Gives the hooks below it a client: one made before, or one made from `url`, `token` and `transport`. */
export function WarrenProvider({ children, ...options }: WarrenProviderProps) {
  const [made] = useState(() => ("client" in options ? null : new WarrenClient(options)));
  const client = "client" in options ? options.client : made;
  return <Context.Provider value={client}>{children}</Context.Provider>;
}

/** The client itself, for calls that have no hook. */
export function useWarrenClient(): WarrenClient {
  const client = use(Context);
  if (!client) throw new Error("useWarrenClient needs a <WarrenProvider> around it");
  return client;
}

export const useStore = (sessionId: string): SessionStore => useWarrenClient().store(sessionId);
