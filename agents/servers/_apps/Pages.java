import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The pages of the shelf: status, content type and body of a path. */
final class Pages {
    static final String TEXT = "text/plain; charset=utf-8";
    private static final String HELLO = "Hello, world!";
    private static final int LARGEST = 1_000_000;

    final int status;
    final String type;
    final byte[] body;

    private Pages(int status, String type, byte[] body) {
        this.status = status;
        this.type = type;
        this.body = body;
    }

    static Pages find(String path) {
        switch (path) {
            case "/":
                return page(TEXT, HELLO);
            case "/json":
                return page("application/json", "{\"message\":\"" + HELLO + "\"}");
            case "/template":
                return page("text/html; charset=utf-8", makeTable());
            default:
                return findBytes(path);
        }
    }

    private static Pages page(String type, String text) {
        return new Pages(200, type, text.getBytes(StandardCharsets.UTF_8));
    }

    private static Pages findBytes(String path) {
        if (path.matches("/bytes/[0-9]{1,7}")) {
            int size = Integer.parseInt(path.substring("/bytes/".length()));
            if (size <= LARGEST) {
                byte[] body = new byte[size];
                Arrays.fill(body, (byte) 'x');
                return new Pages(200, TEXT, body);
            }
        }
        return new Pages(404, TEXT, "Not found".getBytes(StandardCharsets.UTF_8));
    }

    private static String makeTable() {
        StringBuilder rows = new StringBuilder("<!DOCTYPE html><title>Rows</title><table>");
        for (int number = 0; number < 12; number++) {
            rows.append("<tr><td>").append(number).append("</td><td>row ");
            rows.append(number + 1).append("</td></tr>");
        }
        return rows.append("</table>").toString();
    }
}
