package financesandbox.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * For JUnit 5: {@code @ExtendWith(SandboxExtension.class)}. A test with a parameter {@link World} gets a world of its own.
 * All tests share one server. The stack trace of a test that fails contains what happened in its world.
 */
public final class SandboxExtension implements ParameterResolver, TestExecutionExceptionHandler {
    private static final Namespace NAMESPACE = Namespace.create(SandboxExtension.class);

    private record Shared(Sandbox sandbox) implements Store.CloseableResource {
        @Override
        public void close() {
            sandbox.close();
        }
    }

    private record Own(World world) implements Store.CloseableResource {
        @Override
        public void close() {
            world.close();
        }
    }

    /** What happened in the world of a test that failed. */
    public static final class Report extends RuntimeException {
        private static final long serialVersionUID = 1;

        Report(String text) {
            super(text, null, false, false);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == World.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Store root = context.getRoot().getStore(NAMESPACE);
        Shared shared = root.getOrComputeIfAbsent(Shared.class, missing -> new Shared(new Sandbox()), Shared.class);
        Store own = context.getStore(NAMESPACE);
        String name = context.getUniqueId().replaceAll("^\\[engine:junit-jupiter]/", "");
        return own.getOrComputeIfAbsent(Own.class, missing -> new Own(shared.sandbox().world(name)), Own.class).world();
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable thrown) throws Throwable {
        Own own = context.getStore(NAMESPACE).get(Own.class, Own.class);
        if (own != null) {
            try {
                thrown.addSuppressed(new Report(own.world().report()));
            } catch (RuntimeException lost) {
                thrown.addSuppressed(lost);
            }
        }
        throw thrown;
    }
}
