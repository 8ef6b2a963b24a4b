// The beginning.

byId("source").textContent = index.source;
byId("pipeline").textContent = index.pipeline;
makeList();
filter();
if (index.functions.length) {
  listen();
  readAddress();
} else {
  byId("direction").disabled = true;
}
