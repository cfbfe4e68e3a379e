/** Changes Swagger UI: folds errors, notes and headers, and makes Execute wait for its operation. */

/** Shows a row for each error, with its codes; a press opens its schema and examples. */
const foldErrors = () => ({
  wrapComponents: {
    response:
      (Response, { React }) =>
      (props) => {
        const { createElement: element, Fragment, useState } = React;
        const [isOpen, setOpen] = useState(false);
        if (!/^[45]/.test(props.code)) return element(Response, props);
        const codes = props.response.getIn(['content', 'application/json', 'examples'])?.keySeq().join(', ');
        const press = {
          type: 'button',
          className: 'fold',
          'aria-expanded': isOpen,
          onClick: () => setOpen(!isOpen),
        };
        const row = element(
          'tr',
          { className: 'response', 'data-fold': props.code },
          element('td', { className: 'response-col_status' }, props.code),
          element('td', { colSpan: 2 }, element('button', press, isOpen ? '▾ ' : '▸ ', codes || 'an error')),
        );
        return element(Fragment, null, row, isOpen && element(Response, props));
      },
  },
});

const folded = ({ createElement: element }, title, inside) =>
  element('details', { className: 'folded', key: title }, element('summary', null, title), inside);

/** Folds explanations, and the headers of an answer. */
const foldNotes = () => ({
  wrapComponents: {
    Markdown:
      (Markdown, { React }) =>
      (props) => {
        const [first, ...rest] = String(props.source ?? '').split(/\s*<!-- fold: (.+?) -->\s*/);
        const part = (source) => React.createElement(Markdown, { ...props, source });
        if (rest.length === 0) return part(props.source);
        const titles = rest.filter((_, index) => index % 2 === 0);
        const folds = titles.map((title, index) => folded(React, title, part(rest[2 * index + 1])));
        return React.createElement(React.Fragment, null, part(first), ...folds);
      },
    headers:
      (Headers, { React }) =>
      (props) =>
        folded(React, `Headers (${props.headers.size})`, React.createElement(Headers, props)),
  },
});

/**
 * Hides Execute until Swagger UI has resolved the operation's references, a moment after it shows the operation: a press
 * before that finds no operation, sends nothing, and leaves the button disabled for ever.
 */
const waitForOperation = () => ({
  wrapComponents: {
    execute:
      (Execute, { React }) =>
      (props) =>
        props.operation.has('operationId') ? React.createElement(Execute, props) : null,
  },
});

/** Hides the list of servers: the run is the only one. */
const withoutServers = () => ({ wrapComponents: { ServersContainer: () => () => null } });

export const folds = [foldErrors, foldNotes, waitForOperation, withoutServers];
