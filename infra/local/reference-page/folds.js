/** What the page changes in Swagger UI: errors, notes and headers are folded, and Execute waits for its operation. */

/** A row for each error, with its codes; its schema and examples open with a press. */
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

/** What explains, and the headers of an answer: there for whoever looks for it. */
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
 * No Execute before Swagger UI has resolved what the operation refers to, which it does a moment after it shows it:
 * a press before that finds no operation, sends nothing, and leaves the button disabled for ever.
 */
const waitForOperation = () => ({
  wrapComponents: {
    execute:
      (Execute, { React }) =>
      (props) =>
        props.operation.has('operationId') ? React.createElement(Execute, props) : null,
  },
});

/** The run is the one server. */
const withoutServers = () => ({ wrapComponents: { ServersContainer: () => () => null } });

export const folds = [foldErrors, foldNotes, waitForOperation, withoutServers];
