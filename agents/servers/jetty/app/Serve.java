import java.io.IOException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The pages of the shelf on Jetty 9: Serve PORT BACKLOG THREADS. */
public final class Serve extends AbstractHandler {
    @Override
    public void handle(
            String path,
            Request base,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        Pages page = Pages.find(path);
        response.setStatus(page.status);
        response.setContentType(page.type);
        response.setContentLength(page.body.length);
        response.getOutputStream().write(page.body);
        base.setHandled(true);
    }

    public static void main(String[] arguments) throws Exception {
        Server server = new Server(new QueuedThreadPool(Integer.parseInt(arguments[2])));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setAcceptQueueSize(Integer.parseInt(arguments[1]));
        server.addConnector(connector);
        server.setHandler(new Serve());
        server.start();
        server.join();
    }
}
