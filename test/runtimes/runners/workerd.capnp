using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "table", worker = .table)],
);

# No compatibility flag: none of Node's API.
const table :Workerd.Worker = (
  compatibilityDate = "2026-10-01",
  modules = [
    (name = "worker", esModule = embed "workerd.mjs"),
    (name = "table", esModule = embed "../.build/table.mjs"),
  ],
);
