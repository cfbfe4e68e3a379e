/** Gives each tried order an id of its own, and puts the last placed id into the operations that change or read an order. */

const idMember = /("client_order_id"\s*:\s*)"([^"\\]*)"/g;
const idsIn = (text) => [...text.matchAll(idMember)].map(([, , id]) => id);

const bodyOf = ({ requestBody }) => {
  const { example, examples } = requestBody?.content['application/json'] ?? {};
  return examples ? Object.values(examples)[0].value : example;
};
const bodyText = (operation) => JSON.stringify(bodyOf(operation) ?? null, null, 2);
const idParameter = ({ parameters = [] }) => parameters.find(({ name }) => name === 'client_order_id');

/** @param reference returns Swagger UI, once it exists */
export function createOrders(operations, reference, onPlaced) {
  /** Ids of the orders in the examples, by path. */
  const exampleIds = new Map(
    operations
      .filter((operation) => bodyOf(operation)?.new_orders ?? bodyOf(operation)?.batch_orders)
      .map((operation) => [operation.path, new Set(idsIn(bodyText(operation)))]),
  );
  const ofOneOrder = operations.filter(
    (operation) =>
      !exampleIds.has(operation.path) && (idParameter(operation) || idsIn(bodyText(operation)).length > 0),
  );
  /** Ids that these operations have by themselves; any other id was typed, and stays. */
  const carried = new Set(
    ofOneOrder.flatMap((operation) => [...idsIn(bodyText(operation)), idParameter(operation)?.example]),
  );
  /** Bodies that were sent, by path, because an answer names only the path. */
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
        // Otherwise the example replaces it when the operation is opened.
        reference().oas3Actions.setRetainRequestBodyValueFlag({ value: true, pathMethod });
        reference().oas3Actions.setRequestBodyValue({ value, pathMethod });
      }
    }
    carried.add(id);
    onPlaced(id);
  }

  return {
    /** Replaces an example's id at each try, because the upstream accepts an id once; a typed one stays. */
    sending(path, body) {
      const ids = exampleIds.get(path);
      if (!ids || typeof body !== 'string') return body;
      const fresh = body.replace(idMember, (member, name, id) =>
        ids.has(id) ? `${name}"${freshId()}"` : member,
      );
      sent.set(path, fresh);
      return fresh;
    },
    /** Carries the id over, even if the answer was lost: the order may have been placed, and the caller looks it up. */
    answered(path, isPlaced) {
      const [id] = idsIn(sent.get(path) ?? '');
      sent.delete(path);
      if (id && isPlaced) carryOver(id);
    },
  };
}

/** Makes an id even without a secure context, as on a phone in the same network. */
function freshId() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  const part = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `try-${Date.now().toString(36)}-${part}`;
}
