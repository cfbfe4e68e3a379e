/** Orders that are tried: each try has an id of its own, and what changes or reads one order names the last that was placed. */

const idMember = /("client_order_id"\s*:\s*)"([^"\\]*)"/g;
const idsIn = (text) => [...text.matchAll(idMember)].map(([, , id]) => id);

const bodyOf = ({ requestBody }) => {
  const { example, examples } = requestBody?.content['application/json'] ?? {};
  return examples ? Object.values(examples)[0].value : example;
};
const bodyText = (operation) => JSON.stringify(bodyOf(operation) ?? null, null, 2);
const idParameter = ({ parameters = [] }) => parameters.find(({ name }) => name === 'client_order_id');

/** @param reference of Swagger UI, once it is there */
export function createOrders(operations, reference, onPlaced) {
  /** By path, the ids of the orders in its example. */
  const exampleIds = new Map(
    operations
      .filter((operation) => bodyOf(operation)?.new_orders ?? bodyOf(operation)?.batch_orders)
      .map((operation) => [operation.path, new Set(idsIn(bodyText(operation)))]),
  );
  const ofOneOrder = operations.filter(
    (operation) =>
      !exampleIds.has(operation.path) && (idParameter(operation) || idsIn(bodyText(operation)).length > 0),
  );
  /** What stands in these operations by itself; another id was typed, and stays. */
  const carried = new Set(
    ofOneOrder.flatMap((operation) => [...idsIn(bodyText(operation)), idParameter(operation)?.example]),
  );
  /** By path, the body that was sent: an answer names the path alone. */
  const sent = new Map();

  function carryOver(id) {
    for (const operation of ofOneOrder) {
      const pathMethod = [operation.path, operation.method];
      if (idParameter(operation)) {
        const shown = reference().specSelectors.parameterWithMeta(pathMethod, 'client_order_id', 'query');
        const old = shown?.get('value');
        if (old === undefined || carried.has(old))
          reference().specActions.changeParam(pathMethod, 'client_order_id', 'query', id, false);
      } else {
        const text = reference().oas3Selectors.requestBodyValue(...pathMethod) ?? bodyText(operation);
        const value = text.replace(idMember, (member, name, old) =>
          carried.has(old) ? `${name}"${id}"` : member,
        );
        // Else the example takes its place when the operation is opened.
        reference().oas3Actions.setRetainRequestBodyValueFlag({ value: true, pathMethod });
        reference().oas3Actions.setRequestBodyValue({ value, pathMethod });
      }
    }
    carried.add(id);
    onPlaced(id);
  }

  return {
    /** The upstream takes an id once: an example's is replaced at each try, one that was typed is not. */
    sending(path, body) {
      const ids = exampleIds.get(path);
      if (!ids || typeof body !== 'string') return body;
      const fresh = body.replace(idMember, (member, name, id) =>
        ids.has(id) ? `${name}"${freshId()}"` : member,
      );
      sent.set(path, fresh);
      return fresh;
    },
    /** An order whose answer is lost may have been placed: the caller looks it up by its id. */
    answered(path, isPlaced) {
      const [id] = idsIn(sent.get(path) ?? '');
      sent.delete(path);
      if (id && isPlaced) carryOver(id);
    },
  };
}

/** Also where the page has no secure context, as on a phone in the same network. */
function freshId() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  const part = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `try-${Date.now().toString(36)}-${part}`;
}
